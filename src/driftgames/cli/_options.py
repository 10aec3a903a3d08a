"""Shared by options: groups of them, numbers with commas, files to read, run and write, states."""

from __future__ import annotations

import contextlib
import copy
import difflib
import functools
import glob
import importlib.util
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup
from typer.models import ArgumentInfo

from driftgames.cli._output import clear_errors, fail

SETS = ("a9a", "census", "ocr49", "splice", "w8a")
"""The names of `CATALOGUE`, written out to keep --help quick."""


def completes(*names: str) -> Callable[[str], list[str]]:
    """Return what a shell asks for the rest of a name; names may stand with commas between.

    >>> completes("table2", "table3", "hedge")("hedge,t")
    ['hedge,table2', 'hedge,table3']
    """

    def complete(incomplete: str) -> list[str]:
        done, comma, last = incomplete.rpartition(",")
        return [f"{done}{comma}{name}" for name in names if name.startswith(last)]

    return complete


def one_of(names: Iterable[str], *flags: str) -> Any:
    """Return the option of a name, which a shell completes; its help names all."""
    return typer.Option(*flags, autocompletion=completes(*names), help=", ".join(names))


_EXAMPLE = "Example: "
_HYPHEN = "\u2011"  # no line breaks at it, so that a name stays whole


def _write_help(text: str, formatter: Any) -> None:
    """Write the text of a command; its examples follow, each on a line that can be copied."""
    paragraphs = text.split("\n\n")
    examples = [each for each in paragraphs if each.startswith(_EXAMPLE)]
    formatter.write_paragraph()
    with formatter.indentation():
        prose = "\n\n".join(each for each in paragraphs if each not in examples)
        formatter.write_text(prose.replace("-", _HYPHEN))
    if examples:
        with formatter.section("Examples" if len(examples) > 1 else "Example"):
            for each in examples:
                command = " ".join(each.removeprefix(_EXAMPLE).split())
                formatter.write(f"{' ' * formatter.current_indent}{command}\n")


class CommandGroup(TyperGroup):
    """Commands under one name."""

    def get_help(self, ctx: Any) -> str:
        return super().get_help(ctx).replace(_HYPHEN, "-")

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        _write_help(inspect.cleandoc(self.help or ""), formatter)


class GroupedCommand(TyperCommand):
    """A command whose help shows its options in groups, and its arguments by their names alone."""

    def get_help(self, ctx: Any) -> str:
        return super().get_help(ctx).replace(_HYPHEN, "-")

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        _write_help(inspect.cleandoc(self.help or ""), formatter)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return ["[OPTIONS]", *map(_argument_name, self._arguments(ctx))]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        groups: dict[str, list[tuple[str, str]]] = {}
        for argument in self._arguments(ctx):
            groups.setdefault("Arguments", []).append(
                (_argument_name(argument).strip("[].").upper(), argument.help or "")
            )
        for option in self.get_params(ctx):
            if option.param_type_name == "option" and (record := option.get_help_record(ctx)):
                heading = getattr(option, "rich_help_panel", None) or "Options"
                groups.setdefault(heading, []).append((record[0], _completed(record[1])))
        groups["Options"] = groups.pop("Options")  # --help is one of them
        for heading, records in groups.items():
            with formatter.section(heading):
                formatter.write_dl([(name, text.replace("-", _HYPHEN)) for name, text in records])

    def _arguments(self, ctx: Any) -> list[Any]:
        return [each for each in self.get_params(ctx) if each.param_type_name == "argument"]


PARAMETER_OF = {
    "bins": "max_bins",
    "depth": "max_depth",
    "leaves": "max_leaves",
    "patience": "n_iter_no_change",
    "rounds": "n_estimators",
}
"""The parameters of boosters whose options have shorter names."""


def _completed(text: str) -> str:
    """Return the help of an option in which ``{name}`` stands for the text of a parameter."""
    if "{" not in text:
        return text
    from driftgames.boosting.parameters import PARAMETERS

    for name in re.findall(r"\{(\w+)\}", text):
        text = text.replace(f"{{{name}}}", PARAMETERS[name].sentences)
    for option, name in PARAMETER_OF.items():
        text = re.sub(rf"\b{name}\b", f"--{option}", text)
    return text


def _argument_name(argument: Any) -> str:
    """Return how a usage line shows an argument: ``NAME``, ``[NAME]`` or ``NAME...``."""
    name = argument.name.upper() + "..." * (argument.nargs == -1)
    return name if argument.required else f"[{name}]"


def described(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command whose options typer shows as the docstring describes them.

    After the text come sections: a heading such as ``Table:``, and below it ``name (METAVAR):
    help`` for each option. Help shows each section as a group; ``Options:`` are those of no group.
    In the help of `one_of`, ``{0}`` stands for all names and ``{1}`` for the first; ``{max_bins}``
    stands for the text of that parameter of a booster. A parameter of a command that is a
    `NamedTuple` is one option for each of its fields, which its own docstring describes.
    An argument of one text names a table: it is looked for before the command imports anything.

    >>> class Size(NamedTuple):
    ...     rows: int = 3
    ...     columns: int = 2
    >>> @described
    ... def draw(name: str, size: Size) -> None:
    ...     print(name, size)
    >>> draw(name="box", rows=1, columns=2)
    box Size(rows=1, columns=2)
    """
    options = list(_options_of(command))
    tables = [option.name for option in options if _is_table(option.annotation)]

    @functools.wraps(command)
    def run(**given: Any) -> None:
        for name in tables:
            check_source(given[name])
        _call(command, given)

    run.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    run.__annotations__ = {option.name: option.annotation for option in options}
    run.__doc__ = _SECTION.split(inspect.cleandoc(command.__doc__ or ""), maxsplit=1)[0]
    return run


_SECTION = re.compile(r"\n\n([A-Z][\w ]*):\n(?= {4}\w)")


def _is_table(hint: Any) -> bool:
    """Whether a parameter is an argument of one text; what has a parser is no table."""
    kind, info = (
        [*get_args(hint), None, None][:2] if get_origin(hint) is Annotated else (hint, None)
    )
    if not isinstance(info, ArgumentInfo) or kind not in (str, str | None):
        return False
    return info.parser is None


def check_source(source: str | None) -> None:
    """End with one clear line if a table, or a pattern of tables, is not there.

    A name that is almost that of a file is a slip: the line says so.
    """
    if source in (None, "-") or Path(source).exists() or glob.glob(source):
        return
    path = Path(source)
    try:
        beside = [each.name for each in path.parent.iterdir()]
    except OSError:
        beside = []
    near = difflib.get_close_matches(path.name, beside, n=1, cutoff=0.75)
    hint = f"; did you mean {path.with_name(near[0])}?" if near else ""
    fail(f"{source}: No such file or directory{hint}")


def _call(thing: Callable[..., Any], given: dict[str, Any]) -> Any:
    """Call a command, or make a group, with those of the options that are its own."""
    hints = get_type_hints(thing)
    hints.pop("return", None)
    return thing(
        **{
            name: _call(hint, given) if hasattr(hint, "_fields") else given[name]
            for name, hint in hints.items()
        }
    )


class _Described(NamedTuple):
    """What a docstring says of an option."""

    heading: str | None
    metavar: str | None
    text: str


def _descriptions(docstring: str) -> dict[str, _Described]:
    """Return what the sections of a docstring say of each option."""
    _, *parts = _SECTION.split(inspect.cleandoc(docstring))
    found = {}
    for heading, section in zip(parts[::2], parts[1::2], strict=True):
        entries = re.findall(r"^ {4}(\w+)(?: \((\S+)\))?: (.*(?:\n {8}.*)*)", section, re.MULTILINE)
        for name, metavar, text in entries:
            group = None if heading == "Options" else heading
            found[name] = _Described(group, metavar or None, " ".join(text.split()))
    return found


def _options_of(thing: Callable[..., Any]) -> Iterator[inspect.Parameter]:
    """Yield the options of a command or of a group."""
    texts = _descriptions(thing.__doc__ or "")
    hints = get_type_hints(thing, include_extras=True)
    for name, parameter in inspect.signature(thing).parameters.items():
        hint = hints[name]
        if hasattr(hint, "_fields"):
            yield from _options_of(hint)
            continue
        if name in texts:
            kind, info = hint, typer.Option()
            if get_origin(hint) is Annotated:
                kind, info = hint.__origin__, copy.copy(hint.__metadata__[0])
            names, (info.rich_help_panel, metavar, text) = info.help or "", texts[name]
            info.metavar = metavar or _METAVARS.get(kind)
            info.help = text.replace("{0}", names).replace("{1}", names.partition(",")[0])
            if hint is bool:  # a flag, which nothing turns off
                info.param_decls = (f"--{name.replace('_', '-')}",)
            hint = Annotated[kind, info]
        yield parameter.replace(kind=parameter.KEYWORD_ONLY, annotation=hint)


_METAVARS: dict[Any, str] = {int: "N", int | None: "N", float: "X", float | None: "X"}
_METAVARS |= {Path: "FILE", Path | None: "FILE"}


READING = (
    "Tables are CSV, TSV or text with semicolons (.gz, .xz and .bz2 too), .parquet, .arrow, "
    ".npy, a pattern such as 'data/*.csv', or - for standard input. A column without a title is an "
    "index and is left out. Empty cells, ?, NA, N/A, NaN and null are missing values. Dates are "
    "left out, or order the rows, or are days to boost. docs/command_line.md has all rules. "
    "'driftgames datasets export breast_cancer stocks visits' writes the files of the examples."
)
"""How every command reads a table, in short."""

Count = Annotated[int, typer.Option(min=1)]
OptionalCount = Annotated[int | None, typer.Option(min=1)]
Natural = Annotated[int, typer.Option(min=0)]
JsonFile = Annotated[
    Path | None,
    typer.Option(
        "--json",
        metavar="FILE",
        help="Write the raw numbers to this file as JSON.",
        rich_help_panel="Files",
    ),
]


class Reading(NamedTuple):
    """How a table is read; the settings of `open_table`.

    Table:
        sep (CHAR): The separator of cells: a character, or tab. Default: guessed from the first
            line.
        header: Whether the first line names the columns. Default: it does if it has no number.
        leave_out (NAME,NAME): Columns that are not read: names, or numbers from 1.
        encoding (NAME): The encoding of text, such as latin-1. Default: utf-8.
    """

    sep: str | None = None
    header: bool | None = None
    leave_out: str | None = None
    encoding: str | None = None


def numbers(option: str, text: str) -> list[float]:
    """Return the numbers of an option such as ``0.1,0.5``."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"{option} must be numbers with commas between; got {text!r}") from None


def fractions(option: str, text: str | None) -> list[float]:
    """Return the numbers of an option, all in (0, 1]; none if it was not given."""
    from driftgames.core.checks import check_fraction

    return [] if text is None else [check_fraction(option, each) for each in numbers(option, text)]


def pair(option: str, text: str | None) -> tuple[float, float] | None:
    """Return the two numbers of an option such as ``0,100``; None if it was not given."""
    if text is None:
        return None
    found = numbers(option, text)
    if len(found) != 2:
        raise ValueError(f"{option} must be two numbers, as in 0,100; got {text!r}")
    return found[0], found[1]


def check_outputs(**files: Path | None) -> None:
    """Raise an error before the work begins if its result could not be written.

    ``files`` go by the names of their options: ``state=path`` is that of ``--state``. Options whose
    names begin with ``plot`` are pictures.
    """
    taken: dict[Path, str] = {}
    for parameter, path in files.items():
        if path is None:
            continue
        name = parameter.replace("_", "-")
        if not path.parent.is_dir():
            raise ValueError(f"--{name}: there is no directory {path.parent}")
        with contextlib.suppress(FileNotFoundError):
            path.stat()  # a loop of links, or a folder that cannot be searched
        if path.is_dir():
            raise ValueError(f"--{name}: {path} is a directory")
        if (other := taken.setdefault(path.resolve(), name)) != name:
            raise ValueError(f"--{other} and --{name} are the same file, {path}")
        if name.startswith("plot") and path.suffix.lower() not in {".svg", ".pdf", ".png"}:
            raise ValueError(f"--{name} must end in .svg, .pdf or .png; got {str(path)!r}")


def check_kept(*settings: tuple[str, object, object]) -> None:
    """Raise an error if a state was kept with another value than the one asked for.

    A setting is its name, the value asked for (None for any) and the value kept.
    """
    for what, asked, kept in settings:
        if asked is not None and asked != kept:
            raise ValueError(f"{what} is {asked}, but the state was kept with {kept}")


def first_round_of(text: str) -> int | None:
    """Return the number of ``--first-round``; None for ``next``."""
    if text == "next":
        return None
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"--first-round must be next or a number from 1; got {text!r}")
    return int(text)


ImportedFile = Annotated[
    Path | None,
    typer.Option(
        "--import",
        metavar="FILE",
        help="A Python file that is run first, such as one that defines your own potential.",
        rich_help_panel="Files",
    ),
]


def import_file(path: Path | None) -> None:
    """Run a Python file as a module; the classes in it register themselves."""
    if path is None:
        return
    name = f"driftgames_import_{path.stem}"  # the file may be called as a real module is
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise ValueError(f"--import must be a Python file; got {str(path)!r}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickle look it up there
    spec.loader.exec_module(module)


@contextlib.contextmanager
def running(
    imported: Path | None = None, *, locked: Path | None = None, **outputs: Path | None
) -> Iterator[None]:
    """Run the file of ``--import``, check the outputs, and be the only one who writes ``locked``.

    Errors in the block become one clear line.
    """
    from driftgames.core.locks import sole_writer

    with clear_errors():
        import_file(imported)
        check_outputs(**outputs)
        with sole_writer(locked):
            yield
