"""How kernels are compiled: without leave to re-order, and with the garbage collector paused."""

import ast
import gc
import io
import os
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core import event

import driftgames
from driftgames._kernels.arithmetic import greater, lesser
from driftgames._kernels.jit import kernel, scalar
from driftgames.core import progress


@kernel
def _between(values, low, high, out):
    for i in range(values.size):
        out[i] = lesser(greater(values[i], low), high)


def test_lesser_and_greater_are_min_and_max():
    values = np.array([-np.inf, -2.0, -0.5, 0.0, 0.5, 2.0, np.inf])
    out = np.empty_like(values)
    _between(values, -1.0, 1.0, out)
    assert out.tolist() == np.clip(values, -1.0, 1.0).tolist()


def _fused(a, b, c):
    """a * b + c, which differs in the last bit where it is rounded once."""
    return a * b + c


def test_a_kernel_rounds_alike_whoever_compiles_it_first(monkeypatch, tmp_path):
    """Numba hands a caller's fastmath on to a callee that names none."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))  # nothing compiled before
    a, b = 1.0 + 2.0**-30, 1.0 - 2.0**-30
    called = kernel(_fused)

    @numba.njit(fastmath=True)
    def calls(x, y, z):
        return called(x, y, z)

    calls(a, b, -1.0)
    assert called(a, b, -1.0) == _fused(a, b, -1.0) == 0.0


def test_kernels_are_compiled_even_if_the_environment_forbids_it():
    """They are written in vector intrinsics, which Python cannot run."""
    code = (
        "import numpy as np; from driftgames._kernels.sums import total; print(total(np.ones(9)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        timeout=60,
    )
    assert result.stdout == "9.0\n"
    assert "NUMBA_DISABLE_JIT is not obeyed" in result.stderr


def test_only_allocating_kernels_return_arrays():
    """Without Numba's memory manager, an array that Python gets has no owner."""
    for path in Path(driftgames.__file__).parent.rglob("*.py"):
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef) and function.returns is not None:
                marks = {ast.unparse(mark) for mark in function.decorator_list}
                if marks & {"kernel", "brief_kernel"}:  # Python calls no other
                    assert "Array" not in ast.unparse(function.returns), (path, function.name)


@pytest.mark.parametrize("collects", [True, False])
def test_the_garbage_collector_pauses_only_while_a_kernel_compiles(collects):
    seen = []

    @scalar
    def third(x):
        return x / 3.0

    class Watch(event.Listener):
        def on_start(self, event):
            seen.append(gc.isenabled())

        def on_end(self, event):
            pass

    def loop(out):
        out[0] = third(out[0])

    before = gc.isenabled()
    (gc.enable if collects else gc.disable)()
    try:
        with event.install_listener("numba:compile", Watch()):
            numba.njit(loop)(np.ones(1))
        assert seen
        assert not any(seen)
        assert gc.isenabled() == collects
    finally:
        (gc.enable if before else gc.disable)()


class Terminal(io.StringIO):
    def isatty(self):
        return True


def _own(x):
    return x + 1.0


def _of_a_user(x):
    return x + 2.0


def test_a_terminal_is_told_once_that_a_kernel_is_compiled(monkeypatch, tmp_path):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))  # nothing compiled before
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    monkeypatch.setattr(_own, "__module__", "driftgames.elsewhere")
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    compiled = kernel(_own)
    assert compiled(1.0) == 2.0
    said = stream.getvalue()
    assert "compiling, once for this installation" in said
    assert "1 functions" in said
    assert compiled(1.0) == 2.0
    assert kernel(_of_a_user)(1.0) == 3.0
    assert stream.getvalue() == said
