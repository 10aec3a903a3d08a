"""What a referee asks first: each claim of the paper, the published number, ours, a verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from driftgames.paper.boosting import AS_PROVED, AS_PUBLISHED
from driftgames.paper.figures import RIVALS, share_above, share_below_where_different
from driftgames.paper.hedge import kept_runs
from driftgames.paper.results import OURS, PUBLISHED, Figure, Section, listed
from driftgames.paper.tables import TEST, TIME, TRAIN, ZEROS, ComparedShare, compared
from driftgames.tables import Column, Row, Table, counted

CONFIRMED, PARTLY, NOT = "confirmed", "partly", "not confirmed"
UNEXPLAINED = "differs, unexplained"

ERRATA: dict[str, str] = {
    "E6": "Table 1 prints an order for NormalHedge that does not depend on T at epsilon = 1; the "
    "regret does.",
    "E12": "The published numbers of NH-Boost.DT are those of the denominators 4(t-1), not 3t.",
    "E13": "200 rounds are even, so votes can be tied. One rule on which class is +1 fits all "
    "sets; the paper states none.",
    "E14": "Every test row of w8a is also a training row.",
    "E15": "The cells of Table 3 that do not come out to the printed digit.",
    "E16": "NH-Boost.DT ignores more examples than NH-Boost in most rounds, not in all.",
    "E17": "Against AdaBoost's weighted votes the claim on margins holds on splice alone.",
}
"""The entries of docs/errata.md that the report names, in a sentence each."""

EXPLANATIONS: dict[tuple[str, str, str], str] = {}
"""Why a cell of Table 3 differs: by set, algorithm and group of columns. Others: unexplained."""


def claims_table(sections: Sequence[Section]) -> Table | None:
    """Return a row for each claim that these sections can judge; None if they can judge none."""
    tables = {table.name: table for section in sections for table in section.tables}
    figures = {figure.name: figure for section in sections for figure in section.figures}
    rows: list[Row] = []
    if "table2" in tables:
        rows += _sizes(tables["table2"])
    if "table3" in tables:
        rows += _errors(tables["table3"]) + _times(tables["table3"])
    if "figure1" in figures:
        rows += _zeros(figures["figure1"])
    if "figure2" in figures:
        rows += _margins(figures["figure2"])
    if "hedge" in tables:
        rows += _bounds(tables["hedge"])
    if not rows:
        return None
    columns = tuple(Column(name) for name in ("claim", "published", "ours", "verdict", "erratum"))
    notes = (
        "Confirmed: the claim holds in everything compared (numbers, sets, runs). Partly: in some. "
        "Not confirmed: in none. A claim on curves holds on a set if it holds at more than half of "
        "the rounds or margins; “consistently” asks for all.",
        "A number agrees if ours, rounded to the printed decimals, is the printed number. "
        "NH-Boost.DT is judged with the constants that its numbers were made with (E12). "
        "Bold marks what differs, here and in Table 3.",
    )
    return Table("The claims of the paper", columns, tuple(rows), notes, name="claims")


def verdict_sentence(claims: Table | None) -> str:
    """Return the sentence that a report begins with; empty if no claim was judged.

    >>> row = ("Theorem 2", "always", "18 of 18 runs", CONFIRMED, "E6")
    >>> verdict_sentence(Table("", tuple(map(Column, ("claim", "", "", "verdict", ""))), (row,)))
    'Of the 1 claim of the paper judged here, 1 is confirmed.'
    """
    if claims is None:
        return ""
    verdicts = [str(verdict) for verdict in claims.column("verdict")]
    counts = {each: verdicts.count(each) for each in (CONFIRMED, PARTLY, NOT)}
    words = {CONFIRMED: "confirmed", PARTLY: "confirmed in part", NOT: "not confirmed"}
    parts = [f"{n} {'is' if n == 1 else 'are'} {words[each]}" for each, n in counts.items() if n]
    said = f"Of the {counted(sum(counts.values()), 'claim')} of the paper judged here, "
    unexplained = verdicts.count(UNEXPLAINED)
    if unexplained:
        numbers = counted(unexplained, "published number")
        return f"{said}{listed(parts)}; {numbers} differ{'s' * (unexplained == 1)} unexplained."
    return f"{said}{listed(parts)}."


def _sizes(table: Table) -> list[Row]:
    groups = ("Features", "Training rows", "Test rows")
    pairs = [
        (ours, printed)
        for group in groups
        for ours, printed in zip(
            table.column(OURS, group), table.column(PUBLISHED, group), strict=True
        )
        if printed is not None
    ]
    if not pairs:
        return []
    equal = sum(ours == printed for ours, printed in pairs)
    ours = f"{equal} of {len(pairs)} equal"
    verdict = CONFIRMED if equal == len(pairs) else PARTLY
    return [("Table 2: the sizes of the sets", f"{len(pairs)} numbers", ours, verdict, "E14")]


def _errors(table: Table) -> list[Row]:
    found = [
        each
        for group in (TRAIN, TEST, ZEROS)
        for each in compared(table, group)
        if each.algorithm != AS_PROVED
    ]
    rows: list[Row] = []
    for name, groups in (("error rates", (TRAIN, TEST)), ("shares of zero weights", (ZEROS,))):
        own = [each for each in found if each.group in groups]
        if own:
            equal = sum(each.equal for each in own)
            verdict = CONFIRMED if equal == len(own) else PARTLY if equal else NOT
            ours = f"{equal} of {len(own)} to the digit"
            rows.append((f"Table 3: {name}", f"{len(own)} numbers", ours, verdict, "E12, E13"))
    rows += [_cell(each) for each in found if not each.equal]
    return rows


def _cell(each: ComparedShare) -> Row:
    group = each.group.removesuffix(" (%)").lower()
    why = EXPLANATIONS.get((each.data, each.algorithm, each.group), UNEXPLAINED)
    claim = f"Table 3: {each.data}, {each.algorithm}, {group}"
    return (claim, f"{each.printed:.1f} %", f"{each.ours:.3f} %", why, "E15")


def _times(table: Table) -> list[Row]:
    """Return the claim that NH-Boost.DT is the fastest of the three, on the published sets."""
    seconds: dict[str, dict[str, float]] = {}
    for each in compared(table, TIME):
        if each.algorithm != AS_PROVED:
            seconds.setdefault(each.data, {})[each.algorithm] = each.ours
    whole = {name: own for name, own in seconds.items() if len(own) == 3}
    if not whole:
        return []
    first = [name for name, own in whole.items() if min(own, key=own.__getitem__) == AS_PUBLISHED]
    ours = f"on {len(first)} of {len(whole)} sets" + (f": {listed(first)}" if first else "")
    return [
        (
            "Table 3: NH-Boost.DT takes the least time",
            "on every set",
            ours,
            _verdict(len(first), len(whole)),
            "",
        )
    ]


def _zeros(figure: Figure) -> list[Row]:
    shares = {
        panel.title: share_above(panel.curves[AS_PUBLISHED], panel.curves["NH-Boost"])
        for panel in figure.panels
        if {AS_PUBLISHED, "NH-Boost"} <= set(panel.curves)
    }
    if not shares:
        return []
    claim = "Figure 1: NH-Boost.DT ignores more examples than NH-Boost"
    most = sum(share > 0.5 for share in shares.values())
    verdict = (
        CONFIRMED if all(share == 1 for share in shares.values()) else (PARTLY if most else NOT)
    )
    return [(claim, "consistently", _shares(shares, "of the rounds"), verdict, "E16")]


def _margins(figure: Figure) -> list[Row]:
    rows: list[Row] = []
    for rival, name in RIVALS.items():
        shares = {
            panel.title: share_below_where_different(
                panel.curves[AS_PUBLISHED], panel.curves[rival]
            )
            for panel in figure.panels
            if {AS_PUBLISHED, rival} <= set(panel.curves)
        }
        if shares:
            most = sum(share > 0.5 for share in shares.values())
            claim = f"Figure 2: its margin curve is below {name}"
            ours = _shares(shares, "of the thetas")
            rows.append((claim, "for most time", ours, _verdict(most, len(shares)), "E17"))
    return rows


def _bounds(table: Table) -> list[Row]:
    kept, promised = kept_runs(table)
    ours = f"{kept} of {promised} runs, at every ε"
    claim = "Theorem 2: the ε-regret is below its bound"
    return [(claim, "always", ours, _verdict(kept, promised), "E6")]


def _verdict(holds: int, of: int) -> str:
    return CONFIRMED if holds == of else PARTLY if holds else NOT


def _shares(shares: Mapping[str, float], what: str) -> str:
    """Return shares in words.

    >>> _shares({"w8a": 0.945}, "of the rounds")
    'in 94.5 % of the rounds (w8a)'
    """
    words = ", ".join(f"{100 * share:.1f} % ({name})" for name, share in shares.items())
    first, _, rest = words.partition(" (")
    return f"in {first} {what} ({rest}"
