"""Functions that only compiled code calls: they are linked into their callers and not compiled.

Numba optimises every function and makes machine code of it, together with all that it calls. A
function that is called three levels below a kernel goes through this four times, and only the last
one counts: in the kernel. A *linked* function stays as the compiler's front end writes it, until a
kernel that calls it is optimised as a whole. A cold start then takes two thirds of the time.

Python cannot call such a function.

This needs parts of Numba that are private. The import of this module fails if they are not as
expected; `jit` then compiles these functions as all others.
"""

from __future__ import annotations

from inspect import signature
from typing import Any

import numba
from llvmlite.binding import parse_assembly
from numba import _dynfunc
from numba.core.cgutils import normalize_ir_text
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import LoweringPass, register_pass
from numba.core.typed_passes import IRLegalization, NativeLowering, NopythonRewrites
from numba.core.untyped_passes import InlineClosureLikes

_METHODS = {
    "add_ir_module": ["self", "ir_module"],
    "finalize": ["self"],
    "_raise_if_finalized": ["self"],
    "_optimize_functions": ["self", "ll_module"],
    "_get_module_for_linking": ["self"],
    "_finalize_dynamic_globals": ["self"],
}
_ATTRIBUTES = "_final_module", "_linking_libraries", "_finalized"


def _check_numba() -> None:
    """Raise ImportError if Numba's libraries of code are not as they are used below."""
    library = JITCodeLibrary
    for name, arguments in _METHODS.items():
        if list(signature(getattr(library, name, _check_numba)).parameters) != arguments:
            raise ImportError(f"Numba {numba.__version__}: {library.__name__}.{name} has changed")
    made = [base.__init__.__code__.co_names for base in library.__mro__ if base is not object]
    for name in _ATTRIBUTES:
        if not (hasattr(library, name) or any(name in names for names in made)):
            raise ImportError(f"Numba {numba.__version__}: {library.__name__} has no {name}")
    if not callable(getattr(_dynfunc, "make_function", None)):
        raise ImportError(f"Numba {numba.__version__} has no make_function")


_check_numba()


class LinkedLibrary(JITCodeLibrary):  # type: ignore[misc]  # numba is untyped
    """The code of one function and of all that it calls, as it was written."""

    def add_ir_module(self, ir_module: Any) -> None:
        """Take a module; its functions are optimised one by one."""
        self._raise_if_finalized()
        module = parse_assembly(normalize_ir_text(str(ir_module)))
        module.name = ir_module.name
        self._optimize_functions(module)
        self._final_module.link_in(module)

    def finalize(self) -> None:
        """Link the called functions in; whoever calls this one optimises."""
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            if hasattr(library, "_reload_init"):  # Numba 0.60 has none
                self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True


@register_pass(mutates_CFG=False, analysis_only=False)
class _OpenLibrary(LoweringPass):  # type: ignore[misc]
    """Before the function is lowered: give it a library that is linked only."""

    _name = "open_linked_library"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        state.library = LinkedLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        return True


@register_pass(mutates_CFG=False, analysis_only=False)
class _ShowToCallers(LoweringPass):  # type: ignore[misc]
    """After the function is lowered: let other compiled functions find it."""

    _name = "show_to_callers"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        lowered = state["cr"]
        described = lowered.fndesc
        name = described.qualname.split(".")[-1]
        # callers find the library by this object, which Python has no address to call at
        key = _dynfunc.make_function(
            described.lookup_module(), name, "", 0, lowered.env, (state.library,)
        )
        state.targetctx.insert_user_function(key, described, [state.library])
        state["cr"] = lowered._replace(cfunc=key)
        return True


# Steps for closures, comprehensions and whole-array formulas, of which linked functions have none.
_NOT_NEEDED = InlineClosureLikes, NopythonRewrites


class LinkedCompiler(CompilerBase):  # type: ignore[misc]
    """Numba's compiler without its last steps."""

    def define_pipelines(self) -> list[Any]:
        """Return the steps."""
        steps = DefaultPassBuilder.define_nopython_pipeline(self.state)
        steps.passes = [step for step in steps.passes if step[0] not in _NOT_NEEDED]
        steps.add_pass_after(_OpenLibrary, IRLegalization)
        steps.add_pass_after(_ShowToCallers, NativeLowering)
        steps.finalize()
        return [steps]
