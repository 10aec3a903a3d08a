"""Figures 1 and 2 as curves."""

from __future__ import annotations

from collections.abc import Sequence

from driftgames.paper.boosting import THETAS, Fit
from driftgames.paper.claims import claims_on_margins, claims_on_zeros, weighted
from driftgames.paper.results import Figure, Panel

SHOWN: tuple[str, ...] = ("census", "splice", "w8a")
"""The sets of both figures. [LS14, Fig. 1, Fig. 2]"""


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
            "AdaBoost gives no example weight zero; after its first round NH-Boost weighs only "
            "the examples that the first stump got wrong.",
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
