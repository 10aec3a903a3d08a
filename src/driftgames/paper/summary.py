"""The report in a few sentences; their numbers come from its tables and figures."""

from __future__ import annotations

from collections.abc import Sequence

from driftgames.paper.boosting import ALGORITHMS, AS_PROVED
from driftgames.paper.hedge import kept_runs
from driftgames.paper.results import OURS, Section, listed
from driftgames.paper.sets import HONEST
from driftgames.paper.tables import (
    TEST,
    TIME,
    TRAIN,
    ZEROS,
    ComparedShare,
    compared,
    compared_from_first,
)
from driftgames.tables import Table


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
    for figure in (figure for section in sections for figure in section.figures):
        if figure.name in {"figure1", "figure2"}:
            sentences += figure.notes[1:]  # after the first, which explains the figure
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
    found = [
        each
        for algorithm in ALGORITHMS
        for group in (TRAIN, TEST, ZEROS)
        for each in compared(table, group, algorithm)
    ]
    as_they_ran = [each for each in found if each.algorithm != AS_PROVED]
    sentences = _equal_sets([each for each in as_they_ran if each.group != ZEROS])
    for algorithm in ALGORITHMS:
        own = [each for each in found if each.algorithm == algorithm]
        errors = [each for each in own if each.group != ZEROS]
        zeros = [each for each in own if each.group == ZEROS]
        if errors:
            sentences.append(
                f"{algorithm}: {_count(errors, 'published error rates')} come out to the printed "
                "digit" + (f", and {_count(zeros, 'shares of zero weights')}." if zeros else ".")
            )
    from_first = [
        each
        for algorithm in ALGORITHMS
        if algorithm != AS_PROVED
        for each in compared_from_first(table, algorithm)
    ]
    sentences += _unequal_cells(as_they_ran)
    sentences += _zeros_from_first(as_they_ran, from_first)
    return [*sentences, *_w8a(table), *_time(table)]


def _equal_sets(found: Sequence[ComparedShare]) -> list[str]:
    """Return the sets on which all error rates come out as printed, in the reading that was run."""
    unequal = {each.data for each in found if not each.equal}
    equal = [name for name in dict.fromkeys(each.data for each in found) if name not in unequal]
    if not equal:
        return []
    return [
        f"Every published error rate on {listed(equal)} comes out to the printed digit when "
        "NH-Boost.DT is read with 4(t-1)."
    ]


def _unequal_cells(found: Sequence[ComparedShare]) -> list[str]:
    """Return every number that does not come out as printed, in the reading that was run."""
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


def _zeros_from_first(found: Sequence[ComparedShare], other: Sequence[ComparedShare]) -> list[str]:
    """Return both counts: with zeros from round 2 on, and with zeros from round 1 on."""
    zeros = [each for each in found if each.group == ZEROS]
    if not zeros:
        return []
    equal, zeros_equal, other_equal = (
        sum(each.equal for each in part) for part in (found, zeros, other)
    )
    return [
        f"This counts zeros over the weights after each round: {zeros_equal} of {len(zeros)} "
        f"shares come out. Over rounds 1 to T it is {other_equal} of {len(zeros)}, and of all "
        f"numbers {equal - zeros_equal + other_equal} of {len(found)} instead of {equal}. "
        "The paper states no convention."
    ]


def _count(found: Sequence[ComparedShare], what: str) -> str:
    """Return how many numbers are equal, of how many, and on which sets they differ.

    >>> zeros = [ComparedShare("a9a", "", "", 1.14, 1.1), ComparedShare("w8a", "", "", 2.8, 3.0)]
    >>> _count(zeros, "rates")
    '1 of 2 rates (not on w8a)'
    """
    others = list(dict.fromkeys(each.data for each in found if not each.equal))
    where = f" (not on {listed(others)})" if 0 < len(others) <= 2 else ""
    return f"{sum(each.equal for each in found)} of {len(found)} {what}{where}"


def _ours(table: Table, group: str, algorithm: str) -> dict[str, float]:
    """Return our numbers of a group of columns, by set."""
    columns = (table.column("set"), table.column("algorithm"), table.column(OURS, group))
    return {
        str(name): number
        for name, own, number in zip(*columns, strict=True)
        if own == algorithm and isinstance(number, float)
    }


def _w8a(table: Table) -> list[str]:
    errors = _ours(table, TEST, AS_PROVED)
    if not {"w8a", HONEST} <= set(errors):
        return []
    return [
        f"The test rows of w8a are all training rows: {AS_PROVED} errs on {errors['w8a']:.2f} % "
        f"of them, and on {errors[HONEST]:.2f} % once they are taken out of the training part."
    ]


def _time(table: Table) -> list[str]:
    proved, adaboost = (_ours(table, TIME, name) for name in (AS_PROVED, "AdaBoost"))
    both = [name for name in adaboost if name in proved]
    if not both:
        return []
    ends = dict.fromkeys(pick(both, key=adaboost.__getitem__) for pick in (max, min))
    clauses = [
        f"on {name} {AS_PROVED} takes {proved[name]:.3f} s and AdaBoost {adaboost[name]:.3f} s"
        for name in ends
    ]
    return [f"Time here: {', '.join(clauses)}."]


def _hedge(table: Table) -> list[str]:
    kept, promised = kept_runs(table)
    return [f"Of {promised} Hedge runs with a promised ε-regret, {kept} keep it at every ε."]


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
