"""Compile kernels for a second processor beside the first, and leave its code in Numba's cache.

``python tools/two_targets.py haswell tools/golden.py`` runs a script so. Numba spends half of a
compilation on Python code: types, and the translation to LLVM. The result does not depend on the
processor. A copy of it goes to a second code library, which LLVM optimises, links and translates
for the other processor, as Numba does in a process with NUMBA_CPU_NAME set to its name and
NUMBA_CPU_FEATURES to nothing. Such a process finds its code.

A kernel that comes from the cache itself has no second library, and neither has what calls it: the
process with the other processor compiles these.
"""

from __future__ import annotations

import runpy
import sys
from typing import Any

from numba.core import caching, codegen


class _CodeForOther(codegen.JITCodeLibrary):
    """Code for the other processor, which this process never runs."""

    def _finalize_specific(self) -> None:
        """Do not load the code into this process."""

    def _get_compiled_object(self) -> bytes:
        return self._codegen._tm.emit_object(self._final_module)


class _Other(codegen.JITCPUCodegen):
    """The compiler for the other processor, with the instructions that its name stands for."""

    _library_class = _CodeForOther

    def __init__(self, processor: str) -> None:
        self._processor = processor
        super().__init__("other")

    def _get_host_cpu_name(self) -> str:
        return self._processor

    def _get_host_cpu_features(self) -> str:
        return ""

    def _add_module(self, module: Any) -> None:
        """Do not load the code into this process."""


def compile_also_for(processor: str) -> None:
    """From now on, save what is compiled for this process for ``processor`` too.

    Numba must not have compiled anything before, not even its own helpers.
    """
    other = _Other(processor)
    save = caching.FunctionCache._save_overload

    class Code(codegen.JITCodeLibrary):
        """Code for this process. ``twin`` is the same for the other processor, or None."""

        def __init__(self, codegen: Any, name: str) -> None:
            super().__init__(codegen, name)
            self.twin: Any = other.create_library(name)

        def add_llvm_module(self, ll_module: Any) -> None:
            if self.twin is not None:
                self.twin.add_llvm_module(ll_module.clone())
            super().add_llvm_module(ll_module)

        def add_linking_library(self, library: Any) -> None:
            if self.twin is not None and library.twin is not None:
                self.twin.add_linking_library(library.twin)
            else:
                self.twin = None
            super().add_linking_library(library)

        @classmethod
        def _unserialize(cls, codegen: Any, state: Any) -> Any:
            found = super()._unserialize(codegen, state)
            found.twin = None
            return found

    def save_both(cache: Any, signature: Any, compiled: Any) -> None:
        save(cache, signature, compiled)
        if compiled.library.twin is not None:
            twin = compiled._replace(library=compiled.library.twin)
            cache._cache_file.save(cache._index_key(signature, other), twin._reduce())

    codegen.JITCPUCodegen._library_class = Code
    caching.FunctionCache._save_overload = save_both


if __name__ == "__main__":
    compile_also_for(sys.argv[1])
    sys.argv = sys.argv[2:]
    runpy.run_path(sys.argv[0], run_name="__main__")
