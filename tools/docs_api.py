"""The pages of the API: one for each public package, and one for each public class."""

from __future__ import annotations

import ast
import functools
import inspect
import pkgutil
import sys
from collections import Counter
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

BESIDE = (
    "driftgames.bandit.river",
    "driftgames.certificates.bounds",
    "driftgames.hedge.river",
    "driftgames.online_boosting.river",
    "driftgames.portfolio.skfolio",
)
"""Public modules below the packages. Those of other libraries need not be importable."""


@functools.cache
def public_names() -> dict[str, list[str]]:
    """Return the exported names of every public package and module, by its dotted name."""
    import driftgames

    packages = [f"driftgames.{each.name}" for each in pkgutil.iter_modules(driftgames.__path__)]
    found = {each: getattr(import_module(each), "__all__", []) for each in packages}
    for module in BESIDE:
        lines = [node for node in _source(module).body if isinstance(node, ast.Assign)]
        names = [node for node in lines if ast.unparse(node.targets[0]) == "__all__"]
        found[module] = ast.literal_eval(names[0].value)
    return {package: list(names) for package, names in sorted(found.items()) if names}


def _source(module: str) -> ast.Module:
    """Return the syntax of a module, without an import of it."""
    return ast.parse(Path(find_spec(module).origin).read_text())  # type: ignore[union-attr, arg-type]


@functools.cache
def homes() -> dict[str, str]:
    """Return the dotted name of each name with a capital letter that one package alone exports."""
    count = Counter(name for _, name in _pairs())
    return {
        name: f"{package}.{name}"
        for package, name in _pairs()
        if count[name] == 1 and name.lower() != name
    }


def public_bases(of: type) -> list[type]:
    """Return the base classes of the library that have an entry of their own."""
    bases = [base for base in of.__mro__[1:] if base.__module__.startswith("driftgames.")]
    return [base for base in bases if base.__name__ in homes()]


def members(of: type) -> dict[str, type]:
    """Return the methods and properties that have an entry at a class, each with its owner."""
    own = [base for base in of.__mro__ if base.__module__.startswith("driftgames.")]
    found = {
        name: base
        for base in reversed(own)
        for name, value in vars(base).items()
        if inspect.isroutine(value) or isinstance(value, property | classmethod)
    }
    elsewhere = {name for base in public_bases(of) for name in dir(base)} - set(vars(of))
    return {
        name: base
        for name, base in found.items()
        if not name.startswith("_") and name not in elsewhere
    }


def _pairs() -> list[tuple[str, str]]:
    return [(package, name) for package, names in public_names().items() for name in names]


def api_pages() -> dict[str, str]:
    """Return the Markdown of every page by its file name, the overview first.

    The page of a package has its idea, a table of its classes, and its functions. The page of a
    class has its sentence, parameters, example and methods, and last what it inherits.
    """
    pages = {"index.md": _overview()}
    for package, names in public_names().items():
        short = package.removeprefix("driftgames.")
        heading = package.replace(".", ".<wbr>")  # a long name may break there
        found = {name: _class(package, name) for name in sorted(names, key=str.lower)}
        classes = {name: of for name, of in found.items() if of is not None}
        parts = [f"# {heading}\n", ast.get_docstring(_source(package)) or "", ""]
        if classes:
            rows = [
                _row(f"[`{name}`]({short}.{name}.md)", inspect.getdoc(of))
                for name, of in classes.items()
            ]
            parts += ["## Classes\n", "| class | what it is |\n|---|---|", *rows, ""]
        for name in sorted(
            set(names) - set(classes), key=lambda each: (each.isupper(), each.lower())
        ):
            parts += [f"::: {_path(package, name)}", ""]
        pages[f"{short}.md"] = "\n".join(parts)
        for name, of in classes.items():
            pages[f"{short}.{name}.md"] = _class_page(package, name, of)
    return pages


def _class(package: str, name: str) -> type | None:
    """Return a public class; None if the name is another object, or its library is missing."""
    try:
        found = getattr(import_module(package), name)
    except ImportError:
        return None
    return found if inspect.isclass(found) else None


def _class_page(package: str, name: str, of: type) -> str:
    short = package.removeprefix("driftgames.")
    owners = members(of)
    beside = sorted(each for each, owner in owners.items() if owner is not of)
    options = ["    options:", "      heading_level: 1"]
    options += [f"      inherited_members: [{', '.join(beside)}]"] if beside else []
    bases = inherited(of) if name in homes() else []
    more = ["## Inherited\n", *(f"{each}\n" for each in bases)] if bases else []
    where = f"[{package}]({short}.md)"
    return "\n".join([where, "", f"::: {_path(package, name)}", *options, "", *more])


def inherited(of: type) -> list[str]:
    """Return a table for each public base: its methods and attributes, linked.

    >>> from driftgames.hedge import Hedge
    >>> inherited(Hedge)[0].splitlines()[0]
    '| from `ExpertLearner` | what it is |'
    """
    found, seen = [], set(vars(of))
    for base in public_bases(of):
        home = homes()[base.__name__]
        names = sorted(set(members(base)) - seen)
        rows = [
            _row(f"[`{name}`][{home}.{name}]", inspect.getdoc(getattr(base, name)))
            for name in names
        ]
        head = f"| from `{base.__name__}` | what it is |\n|---|---|"
        found += ["\n".join([head, *rows])] if rows else []
        seen |= set(names)
    return found


def _path(package: str, name: str) -> str:
    """Return the dotted name, by way of a module that has the same name."""
    same = f"{package}.{name}" in sys.modules
    return f"{package}.{name}.{name}" if same else f"{package}.{name}"


def _overview() -> str:
    top = import_module("driftgames")
    rows = [_row(f"`{name}`", inspect.getdoc(getattr(top, name))) for name in top.__all__]
    packages = [
        _row(f"[{each}]({each.removeprefix('driftgames.')}.md)", ast.get_docstring(_source(each)))
        for each in public_names()
    ]
    return "\n".join(
        [
            "# The API",
            "",
            "These names can be imported from `driftgames` itself.",
            "",
            "| name | what it is |\n|---|---|",
            *rows,
            "",
            "## All packages",
            "",
            "| package | what it holds |\n|---|---|",
            *packages,
            "",
        ]
    )


def _row(name: str, docstring: str | None) -> str:
    first = (docstring or "").partition("\n\n")[0].replace("\n", " ").replace("|", "\\|")
    return f"| {name} | {first} |"
