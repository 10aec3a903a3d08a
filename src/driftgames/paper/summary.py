"""The report in a few sentences; their numbers come from its tables and figures."""

from __future__ import annotations

from collections.abc import Sequence

from driftgames.paper.boosting import AS_PROVED, AS_PUBLISHED
from driftgames.paper.figures import claims_on_margins, claims_on_zeros
from driftgames.paper.results import OURS, Figure, Section, listed
from driftgames.paper.sets import HONEST
from driftgames.paper.tables import TEST, TIME, TRAIN, ZEROS, Comparison, compared
from driftgames.tables import Table

_AS_THEY_RAN = ("AdaBoost", "NH-Boost", AS_PUBLISHED)


def summarise(
    sections: Sequence[Section], *, missing: Sequence[str] = (), kept: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the sentences, one finding each.

    ``missing`` are the sets that could not be had, ``kept`` the sections of earlier runs.
    """
    found = {table.name: table for section in sections for table in section.tables}
    sentences = _sets(sections, missing)
    if kept:
        sentences.append(f"From earlier runs, by the command that each names: {listed(kept)}.")
    if "table3" in found:
        sentences += _boosting(found["table3"])
    sentences += _figures([figure for section in sections for figure in section.figures])
    if "hedge" in found:
        sentences += _hedge(found["hedge"])
    if "peers" in found:
        sentences += _peers(found["peers"])
    return tuple(sentences)


def sets_used(sections: Sequence[Section]) -> tuple[str, ...]:
    """Return the names of the sets that some section used."""
    return tuple(dict.fromkeys(name for section in sections for name in section.sets))


def _sets(sections: Sequence[Section], missing: Sequence[str]) -> list[str]:
    used = sets_used(sections)
    sentence = f"Run on {listed(used)}." if used else "No set was used."
    absent = [name for name in missing if name not in used]
    if used and absent:
        sentence += (
            f" Not here: {listed(absent)}; "
            f"'driftgames datasets fetch {' '.join(absent)}' brings them."
        )
    # if another section uses the set, only the section itself names the omission
    omissions = [each.omission for each in sections if not set(each.left_out) <= set(used)]
    return [sentence, *dict.fromkeys(omissions)]


def _boosting(table: Table) -> list[str]:
    sentences = _equal_sets(table)
    for algorithm in (*_AS_THEY_RAN, AS_PROVED):
        errors = [each for group in (TRAIN, TEST) for each in compared(table, group, algorithm)]
        zeros = compared(table, ZEROS, algorithm)
        if errors:
            sentences.append(
                f"{algorithm}: {_count(errors, 'published error rates')} come out to the printed "
                "digit" + (f", and {_count(zeros, 'shares of zero weights')}." if zeros else ".")
            )
    return [*sentences, *_unequal_cells(table), *_w8a(table), *_time(table)]


def _as_they_ran(table: Table, groups: Sequence[str]) -> list[Comparison]:
    return [
        each
        for algorithm in _AS_THEY_RAN
        for group in groups
        for each in compared(table, group, algorithm)
    ]


def _equal_sets(table: Table) -> list[str]:
    """Return the sets on which all error rates come out as printed, in the reading that was run."""
    found = _as_they_ran(table, (TRAIN, TEST))
    unequal = {each.data for each in found if not each.equal}
    equal = [name for name in dict.fromkeys(each.data for each in found) if name not in unequal]
    if not equal:
        return []
    return [
        f"Every published error rate on {listed(equal)} comes out to the printed digit when "
        "NH-Boost.DT is read with 4(t-1)."
    ]


def _unequal_cells(table: Table) -> list[str]:
    """Return every number that does not come out as printed, in the reading that was run."""
    found = _as_they_ran(table, (TRAIN, TEST, ZEROS))
    unequal = [each for each in found if not each.equal]
    if not unequal:
        return []
    cells = [
        f"{each.data}, {each.algorithm}, {each.group.removesuffix(' (%)').lower()} "
        f"{each.ours:.3f} for {each.printed:.1f}"
        for each in unequal
    ]
    return [
        f"With NH-Boost.DT read with 4(t-1), {len(found) - len(unequal)} of {len(found)} "
        f"published numbers come out to the printed digit. The others: {'; '.join(cells)}."
    ]


def _count(found: Sequence[Comparison], what: str) -> str:
    """Return how many numbers are equal, of how many, and on which sets they differ.

    >>> zeros = [Comparison("a9a", "", "", 1.14, 1.1), Comparison("w8a", "", "", 2.8, 3.0)]
    >>> _count(zeros, "rates")
    '1 of 2 rates (not on w8a)'
    """
    others = list(dict.fromkeys(each.data for each in found if not each.equal))
    where = f" (not on {listed(others)})" if 0 < len(others) <= 2 else ""
    return f"{sum(each.equal for each in found)} of {len(found)} {what}{where}"


def _w8a(table: Table) -> list[str]:
    errors = {
        (name, algorithm): error
        for name, algorithm, error in zip(
            table.column("set"), table.column("algorithm"), table.column(OURS, TEST), strict=True
        )
    }
    with_rows, honest = errors.get(("w8a", AS_PROVED)), errors.get((HONEST, AS_PROVED))
    if not (isinstance(with_rows, float) and isinstance(honest, float)):
        return []
    return [
        f"The test rows of w8a are all training rows: {AS_PROVED} errs on {with_rows:.2f} % of "
        f"them, and on {honest:.2f} % once they are taken out of the training part."
    ]


def _time(table: Table) -> list[str]:
    seconds: dict[str, dict[str, float]] = {}
    columns = (table.column("set"), table.column("algorithm"), table.column(OURS, TIME))
    for name, algorithm, second in zip(*columns, strict=True):
        if isinstance(second, float):
            seconds.setdefault(str(name), {})[str(algorithm)] = second
    both = {name: each for name, each in seconds.items() if {"AdaBoost", AS_PROVED} <= set(each)}
    if not both:
        return []
    slowest = max(both, key=lambda name: both[name]["AdaBoost"])
    quickest = min(both, key=lambda name: both[name]["AdaBoost"])
    clauses = [
        f"on {name} {AS_PROVED} takes {both[name][AS_PROVED]:.3f} s and AdaBoost "
        f"{both[name]['AdaBoost']:.3f} s"
        for name in dict.fromkeys([slowest, quickest])
    ]
    return [f"Time here: {', '.join(clauses)}."]


def _figures(figures: Sequence[Figure]) -> list[str]:
    sentences: list[str] = []
    for figure in figures:
        if figure.name == "figure1":
            sentences += claims_on_zeros(figure.panels)
        elif figure.name == "figure2":
            sentences += claims_on_margins(figure.panels)
    return sentences


def _hedge(table: Table) -> list[str]:
    verdicts = table.column("kept")
    promised = [verdict for verdict in verdicts if verdict != "no bound"]
    kept = sum(verdict == "yes" for verdict in promised)
    return [f"Of {len(promised)} Hedge runs with a promised ε-regret, {kept} keep it at every ε."]


def _peers(table: Table) -> list[str]:
    groups = dict.fromkeys(column.group for column in table.columns if column.name == "to ours")
    sentences = []
    for group in groups:
        ratios = [ratio for ratio in table.column("to ours", group) if isinstance(ratio, float)]
        if ratios:
            sentences.append(
                f"{group} takes {min(ratios):.1f} to {max(ratios):.1f} times as long as "
                f"{AS_PROVED}."
            )
    return sentences
