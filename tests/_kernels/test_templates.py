"""Templates: functions that are compiled for parts, each combination with a name of its own."""

import os
import subprocess
import sys
import textwrap
from types import SimpleNamespace

import numba
import numpy as np
import pytest

from driftgames._kernels import templates
from driftgames._kernels.blocks import add_block
from driftgames._kernels.jit import inner_kernel, kernel, scalar
from driftgames._kernels.templates import Part, as_part, instantiate

part, other = Part("part"), Part("other")

FACTOR = 2.0


@scalar
def inner(x):
    return x * FACTOR


@scalar
def doubled(x):
    return inner(x)


@scalar
def squared(x):
    return x * x


@inner_kernel
def apply(values, i):
    return part.each(values[i])


@kernel
def loop(values, out):
    for i in range(values.size):
        out[i] = apply(values, i)


@inner_kernel
def scaled_by_part(x):
    return other.SCALE * x


@kernel
def plain(values, out):
    for i in range(values.size):
        out[i] = inner(values[i])


def run(compiled, values):
    values = np.array(values)
    out = np.empty_like(values)
    compiled(values, out)
    return out.tolist()


def name_of(each):
    """The name of a copy that is made anew."""
    templates._instances.cache_clear()
    return instantiate(loop, lambda function: function, part=as_part("part", each=each)).__name__


def test_a_template_calls_its_parts_however_deep():
    for each, wanted in ((doubled, [2.0, 4.0, 6.0]), (squared, [1.0, 4.0, 9.0])):
        assert run(instantiate(loop, part=as_part("part", each=each)), [1.0, 2.0, 3.0]) == wanted


def test_a_part_is_a_template_of_other_parts_and_may_be_any_object():
    class Scale:
        def __init__(self, factor):
            self.SCALE = factor

    mine = as_part("part", each=scaled_by_part)
    for factor in (3.0, 5.0):
        assert run(instantiate(loop, part=mine, other=Scale(factor)), [2.0]) == [2 * factor]


def test_the_same_parts_give_the_same_copy():
    mine = as_part("part", each=squared)
    assert instantiate(loop, part=mine) is instantiate(loop, part=mine)
    assert instantiate(loop, part=mine) is not instantiate(loop, part=as_part("p", each=doubled))


def test_what_refers_to_no_part_is_not_copied():
    assert instantiate(plain, part=as_part("part")) is plain
    again = instantiate(inner, kernel)
    assert again is not inner
    assert again(3.0) == 6.0


def test_a_part_that_is_not_bound_is_named():
    with pytest.raises(TypeError, match="apply refers to part, which is not bound"):
        instantiate(loop)


def test_names_differ_by_what_is_called_however_deep(monkeypatch):
    first = name_of(doubled)
    assert name_of(doubled) == first
    assert name_of(squared) != first
    monkeypatch.setitem(globals(), "FACTOR", 3.0)  # a constant two calls down
    assert name_of(doubled) != first


def _scaled_by(factor):
    @numba.njit
    def scaled(x):
        return x * factor

    return scaled


TABLE = np.array([1.0, 2.0])


@numba.njit
def looked_up(x):
    return x * TABLE[1]


def test_a_value_in_a_closure_or_an_array_is_compiled_in_and_so_part_of_the_name(monkeypatch):
    for factor in (2.0, 3.0, 5.0):
        mine = as_part("part", each=_scaled_by(factor))
        assert run(instantiate(loop, part=mine), [1.0]) == [factor]
    first = name_of(looked_up)
    monkeypatch.setitem(globals(), "TABLE", np.array([1.0, 7.0]))
    assert name_of(looked_up) != first


@numba.njit
def blocks_added(x):
    add_block(x, np.uint64(0), x)
    return 1.0


def test_a_change_in_an_intrinsic_changes_the_name(monkeypatch):
    first = name_of(blocks_added)
    changed = SimpleNamespace(__wrapped__=lambda context: None)
    monkeypatch.setitem(globals(), "add_block", changed)
    assert name_of(blocks_added) != first


@numba.njit
def halvings(x):
    return 0.0 if x < 1.0 else 1.0 + halvings(x / 2.0)


def test_a_function_may_call_itself():
    assert run(instantiate(loop, part=as_part("part", each=halvings)), [8.0]) == [4.0]


MODULES = {
    "one": """
        from driftgames._kernels.jit import inner_kernel
        @inner_kernel
        def each(x):
            return x + 1.0
    """,
    "two": """
        from driftgames._kernels.jit import inner_kernel
        @inner_kernel
        def each(x):
            return x * 4.0
    """,
    "template": """
        from driftgames._kernels.jit import kernel
        from driftgames._kernels.templates import Part
        part = Part("part")
        @kernel
        def loop(values):
            for i in range(values.size):
                values[i] = part.each(values[i])
    """,
    "run": """
        import numpy as np, one, two, template
        from driftgames._kernels.templates import instantiate
        for part in (one, two):
            compiled, values = instantiate(template.loop, part=part), np.array([2.0])
            compiled(values)
            hits = sum(compiled.stats.cache_hits.values())
            print(values[0], "loaded" if hits else "compiled")
    """,
}


def test_every_combination_is_cached_and_a_changed_part_is_compiled_anew(tmp_path):
    for name, text in MODULES.items():
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))

    def answers():
        cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, str(tmp_path / "run.py")]
        done = subprocess.run(command, env={**os.environ, **cache}, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    assert answers() == ["3.0 compiled", "8.0 compiled"]
    assert answers() == ["3.0 loaded", "8.0 loaded"]
    text = (tmp_path / "one.py").read_text()
    (tmp_path / "one.py").write_text(text.replace("x + 1.0", "x + 2.0"))
    assert answers() == ["4.0 compiled", "8.0 loaded"]
