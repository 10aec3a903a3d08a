"""Figures 1 and 2 as curves, and what the paper claims of them. [LS14, Fig. 1, Fig. 2]"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from driftgames.paper.boosting import AS_PUBLISHED, THETAS, Fit
from driftgames.paper.results import Figure, Panel, listed

SHOWN: tuple[str, ...] = ("census", "splice", "w8a")
"""The sets of both figures. [LS14, Fig. 1, Fig. 2]"""


RUNNING = 10
"""Figure 1 is drawn as means over so many rounds; its claims are judged round by round."""


def figure_1(fits: Sequence[Fit]) -> Figure:
    """Return the share of examples of weight zero over the rounds. [LS14, Fig. 1]"""
    panels = []
    for name in _sets(fits):
        own = [fit for fit in fits if fit.data == name]
        longest = max(fit.rounds for fit in own)
        # a run that ended early keeps its last share
        curves = {
            fit.algorithm: fit.zero_fractions + fit.zero_fractions[-1:] * (longest - fit.rounds)
            for fit in own
        }
        panels.append(Panel(name, [float(t) for t in range(1, longest + 1)], curves))
    return Figure(
        "figure1",
        "zero_fractions",
        "Examples of weight zero over the rounds",
        tuple(panels),
        (
            f"Running means over {RUNNING} rounds. AdaBoost gives no example weight zero; after "
            "its first round NH-Boost weighs only the examples that the first stump got wrong.",
            *claims_on_zeros(panels),
        ),
    )


def figure_2(fits: Sequence[Fit]) -> Figure:
    """Return the share of training examples up to each margin. [LS14, Fig. 2]"""
    thetas = [float(theta) for theta in THETAS]
    panels = []
    for name in _sets(fits):
        own = [fit for fit in fits if fit.data == name]
        curves = {fit.algorithm: fit.margins for fit in own}
        curves |= {
            weighted(fit.algorithm): fit.weighted_margins
            for fit in own
            if fit.weighted_margins is not None
        }
        panels.append(Panel(name, thetas, curves))
    return Figure(
        "figure2",
        "cumulative_margins",
        "Cumulative margins on the training examples",
        tuple(panels),
        (
            "A line further down and to the right means larger margins. As the paper defines the "
            "margin every hypothesis has one vote, AdaBoost's too; beside it stand the weighted "
            "votes that AdaBoost decides by.",
            *claims_on_margins(panels),
        ),
    )


def _sets(fits: Sequence[Fit]) -> list[str]:
    return list(dict.fromkeys(fit.data for fit in fits))


def weighted(algorithm: str) -> str:
    """Return the name of a margin curve in which each hypothesis votes with its weight."""
    return f"{algorithm}, weighted votes"


RIVALS: dict[str, str] = {
    "NH-Boost": "NH-Boost's",
    "AdaBoost": "AdaBoost's with one vote each",
    weighted("AdaBoost"): "AdaBoost's with weighted votes",
}
"""The curves that the margins of NH-Boost.DT are compared with."""


def share_above(upper: Sequence[float], lower: Sequence[float]) -> float:
    """Return the share of places at which one curve lies strictly above the other.

    >>> share_above([0.1, 0.3, 0.5, 0.5], [0.1, 0.2, 0.4, 0.6])
    0.5
    """
    return sum(a > b for a, b in zip(upper, lower, strict=True)) / len(upper)


def share_below_where_different(curve: Sequence[float], other: Sequence[float]) -> float:
    """Return the share of places at which a curve lies below another, of those where they differ.

    Cumulative margins are equal wherever both are 0 or both are 1: these places are left out.

    >>> share_below_where_different([0.0, 0.2, 0.5, 1.0], [0.0, 0.3, 0.4, 1.0])
    0.5
    """
    different = [(a, b) for a, b in zip(curve, other, strict=True) if a != b]
    return sum(a < b for a, b in different) / len(different) if different else 0.0


def claims_on_zeros(panels: Sequence[Panel]) -> tuple[str, ...]:
    """Return in how many rounds NH-Boost.DT ignores more examples than NH-Boost does.

    The paper says: "consistently ignores more examples than NH-Boost". There is no sentence
    if one of the two curves is missing.
    """
    shares = _against("NH-Boost", panels, share_above)
    if not shares:
        return ()
    return (f"{AS_PUBLISHED} ignores more examples than NH-Boost in {shares} of the rounds.",)


def claims_on_margins(panels: Sequence[Panel]) -> tuple[str, ...]:
    """Return for each rival at how many thetas the curve of NH-Boost.DT is the lower one.

    The paper says: "below the ones for NH-Boost (and even AdaBoost) for most time". There is no
    sentence on a rival whose curve is missing.
    """
    sentences = []
    for rival, name in RIVALS.items():
        shares = _against(rival, panels, share_below_where_different)
        if shares:
            sentences.append(
                f"The margin curve of {AS_PUBLISHED} is below {name} at {shares} of the "
                "thetas at which the two differ."
            )
    return tuple(sentences)


def _against(
    rival: str,
    panels: Sequence[Panel],
    share: Callable[[Sequence[float], Sequence[float]], float],
) -> str:
    """Return the shares of NH-Boost.DT against a rival with their sets; empty without curves.

    >>> curves = {AS_PUBLISHED: [0.1, 0.3], "NH-Boost": [0.1, 0.2]}
    >>> _against("NH-Boost", [Panel("w8a", [1, 2], curves)], share_above)
    '50.0 % (w8a)'
    """
    return listed(
        [
            f"{100 * share(panel.curves[AS_PUBLISHED], panel.curves[rival]):.1f} % ({panel.title})"
            for panel in panels
            if {AS_PUBLISHED, rival} <= set(panel.curves)
        ]
    )
