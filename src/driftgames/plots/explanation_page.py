"""A model to click through: importance, the shape of each feature, reasons, and the guarantee.

One self-contained HTML file without a script: tabs and features are radio buttons. It is made from
plain data, so that any additive model can use it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib import resources
from typing import Any

import numpy as np

from driftgames.core.checks import (
    as_floats,
    check_flag,
    check_kind,
    check_number,
    check_text,
    check_vector,
    shown,
)
from driftgames.core.display import text_of
from driftgames.core.documents import atomic_write
from driftgames.core.text import listed
from driftgames.core.typing import FloatArray, Path
from driftgames.plots.shape_drawing import draw_density, draw_shape
from driftgames.plots.style import check_titles

MOST_FEATURES = 60
"""How many features have a shape on the page, the most important first."""

MOST_CLASSES = 12
"""Among how many classes a page has a switch."""

_MOST_DRAWINGS = 300


@dataclass(frozen=True)
class FeatureShape:
    """The vote of one feature.

    Parameters
    ----------
    name : str
        The feature.
    thresholds, values : array
        ``values[k]`` is the vote up to ``thresholds[k]``, and the last one beyond all of them. With
        ``categories`` there are no thresholds and one value for each category. Without any value
        there is no shape, only the importance.
    missing : float or None
        The vote where the value is missing. Default: None, not drawn.
    categories : sequence of str or None
        The names of the categories. Default: None, a number.
    sample : array or None
        Values of the feature in the data, or numbers of categories; NaN where it is missing.
        Their density is drawn.
    importance : float or None
        Default: None, the spread of ``values``.
    is_mean : bool
        Whether ``values`` are means over examples, as those of trees are. Default: False.
    spread : array or None
        The standard deviation of each of ``values`` among the boosters that they are the mean of;
        it is drawn as a band. Default: None.
    are_dates : bool
        Whether values and thresholds are dates, as days since 1970. Default: False.
    """

    name: str
    thresholds: FloatArray | Sequence[float]
    values: FloatArray | Sequence[float]
    missing: float | None = None
    categories: Sequence[str] | None = None
    sample: FloatArray | Sequence[float] | None = None
    importance: float | None = None
    is_mean: bool = False
    spread: FloatArray | Sequence[float] | None = None
    are_dates: bool = False

    def __post_init__(self) -> None:
        check_text("name", self.name)
        n_values = check_vector("values", self.values).size
        n_needed = check_vector("thresholds", self.thresholds).size + 1
        if self.categories is not None:
            n_needed = len(check_titles(self.categories))
        for what in ("missing", "importance"):
            if getattr(self, what) is not None:
                check_number(what, getattr(self, what))
        if self.sample is not None and as_floats("sample", self.sample).ndim != 1:
            raise ValueError(f"sample must be one-dimensional; got {shown(self.sample)}")
        check_flag("is_mean", self.is_mean)
        check_flag("are_dates", self.are_dates)
        if self.spread is not None:
            check_vector("spread", self.spread, n_values)
        if n_values != n_needed and (n_values or self.importance is None):
            raise ValueError(f"{listed([self.name])} must have {n_needed} values; got {n_values}")

    @property
    def reach(self) -> float:
        """The height that the votes need, with their band."""
        values = as_floats("values", self.values)
        around = 0.0 if self.spread is None else as_floats("spread", self.spread)
        return float((np.abs(values) + around).max(initial=0.0))

    @property
    def weight(self) -> float:
        """The importance, or the spread of the votes."""
        if self.importance is not None:
            return self.importance
        values = as_floats("values", self.values)
        return float(values.max() - values.min())

    def draw(self, reach: float) -> str:
        """Return the shape as an ``<svg>`` element; ``reach`` is the vote at its top."""
        return draw_shape(
            self.name,
            as_floats("thresholds", self.thresholds),
            as_floats("values", self.values),
            reach,
            spread=None if self.spread is None else as_floats("spread", self.spread),
            missing=self.missing,
            categories=self.categories,
            sample=None if self.sample is None else as_floats("sample", self.sample),
            are_dates=self.are_dates,
        )


@dataclass(frozen=True)
class Reasons:
    """Why a model decided as it did on one example.

    Parameters
    ----------
    title : str
        The example.
    decision : str
        What was decided, and how surely.
    parts : sequence of (str, object, float)
        Feature, its value, and its part of the vote, in any order.
    base : float
        The part that no feature decides. Default: 0.
    label : str
        The class that the votes are for. Default: that of the page.
    distribution : (array, array, (float, float)) or None
        Levels, the quantiles of a predicted number at these, and the ends of an interval. Its
        density is drawn. Default: None.
    """

    title: str
    decision: str
    parts: Sequence[tuple[str, object, float]]
    base: float = 0.0
    label: str = ""
    distribution: tuple[FloatArray, FloatArray, tuple[float, float]] | None = None

    def __post_init__(self) -> None:
        for what in ("title", "decision", "label"):
            check_text(what, getattr(self, what))
        check_number("base", self.base)
        parts: Any = self.parts
        if not isinstance(parts, Sequence) or isinstance(parts, str | bytes):
            raise ValueError(f"parts must be a sequence; got {shown(parts)}")
        for part in parts:
            if not isinstance(part, tuple) or len(part) != 3:
                raise ValueError(f"parts must be (name, value, vote); got {shown(part)}")
            check_number("the vote of a part", part[2])
        if self.distribution is not None:
            levels, quantiles, _ = self.distribution
            check_vector("quantiles", quantiles, check_vector("levels", levels).size)


@dataclass(frozen=True)
class ClassVotes:
    """The shapes and reasons of one class, on a page with a switch for classes.

    Parameters
    ----------
    label : str
        The class that positive votes are for.
    features : sequence of FeatureShape
        The same features as those of the page.
    examples : sequence of Reasons
        The same examples as those of the page, with their votes for this class.
    """

    label: str
    features: Sequence[FeatureShape]
    examples: Sequence[Reasons] = ()

    def __post_init__(self) -> None:
        check_text("label", self.label)
        _check_members(self, {"features": FeatureShape, "examples": Reasons})


@dataclass(frozen=True)
class ExplanationPage:
    """The page. ``save`` writes it; ``html`` returns its text; a notebook shows it in a frame.

    Parameters
    ----------
    title : str
        The model.
    label : str
        The class that positive votes are for.
    features : sequence of FeatureShape
        In any order.
    examples : sequence of Reasons
        Examples to look at. Default: none.
    facts : mapping
        What was fitted: rounds, sizes, errors. Default: none.
    guarantee : str
        The certificate as text. Default: "".
    tabs : mapping
        Further tabs by title, as HTML that is trusted, such as a scorecard. Default: none.
    classes : sequence of ClassVotes
        All classes, among them ``label``: the page has a switch. Default: ``label`` alone.
    of_numbers : bool
        Whether a number is predicted: votes are then parts of its mean, in the unit of the outcome,
        and ``label`` is not shown. Default: False.

    Examples
    --------
    >>> page = ExplanationPage("tumours", "benign", [FeatureShape("radius", [1.0], [0.2, -0.3])])
    >>> page
    <ExplanationPage: tumours, 1 feature, 0 examples>
    >>> "radius" in page.html()
    True
    """

    title: str
    label: str
    features: Sequence[FeatureShape]
    examples: Sequence[Reasons] = ()
    facts: Mapping[str, object] = field(default_factory=dict)
    guarantee: str = ""
    tabs: Mapping[str, str] = field(default_factory=dict)
    classes: Sequence[ClassVotes] = ()
    of_numbers: bool = False

    def __post_init__(self) -> None:
        for what in ("title", "label", "guarantee"):
            check_text(what, getattr(self, what))
        check_flag("of_numbers", self.of_numbers)
        kinds = {"features": FeatureShape, "examples": Reasons, "classes": ClassVotes}
        _check_members(self, kinds)
        if self.classes and self.label not in [each.label for each in self.classes]:
            raise ValueError(f"label must be one of the classes; got {shown(self.label)}")
        for each in self.classes:
            for what in ("features", "examples"):
                n, wanted = len(getattr(each, what)), len(getattr(self, what))
                if n != wanted:
                    raise ValueError(
                        f"the {what} of class {shown(each.label)} must be {wanted:,}, as those of "
                        f"the page are; got {n:,}"
                    )
        for what in ("facts", "tabs"):
            check_kind(what, getattr(self, what), Mapping)
        for name, text in self.tabs.items():
            check_text("the title of a tab", name)
            check_text(f"tabs[{shown(name)}]", text)

    def __repr__(self) -> str:
        n, m = len(self.features), len(self.examples)
        ends = "" if n == 1 else "s", "" if m == 1 else "s"
        return f"<ExplanationPage: {self.title}, {n:,} feature{ends[0]}, {m:,} example{ends[1]}>"

    def save(self, path: Path) -> None:
        """Write the page in one step."""
        with atomic_write(path) as stream:
            stream.write(self.html().encode())

    def _repr_html_(self) -> str:
        """Return the page in a frame of its own, for a notebook."""
        return (
            f'<iframe srcdoc="{escape(self.html())}" title="{escape(self.title)}, explained" '
            'sandbox style="width:100%;height:34rem;border:1px solid rgba(128,128,128,.35)">'
            "</iframe>"
        )

    def html(self) -> str:
        """Return the whole page; it refers to nothing outside itself and has no script."""
        panels = {"Features": self._features()}
        if self.examples:
            panels["Examples" if self.of_numbers else "Reasons"] = self._all_reasons()
        if self.facts or self.guarantee:
            panels["Guarantee"] = self._guarantee()
        panels |= self.tabs
        buttons = "".join(
            f'<input type="radio" name="tab" id="tab{k}"{" checked" if k == 0 else ""}>'
            f'<label for="tab{k}">{escape(name)}</label>'
            for k, name in enumerate(panels)
        )
        shown = "".join(
            f'<section class="panel" id="panel{k}" aria-label="{escape(name)}">{text}</section>'
            for k, (name, text) in enumerate(panels.items())
        )
        rules = "".join(
            f"#tab{k}:checked~#panel{k}{{display:block}}"
            f"#tab{k}:checked+label{{border-color:var(--for);font-weight:600}}"
            for k in range(len(panels))
        )
        picks = "".join(
            f"#f{k}:checked~.shapes #s{k}{{display:block}}"
            f"#f{k}:checked+label{{background:var(--tint)}}"
            for k in range(min(len(self.features), MOST_FEATURES))
        )
        switches = "".join(
            f"#{kind}{k}:checked~* .{kind}{k}{{display:block}}"
            f"#{kind}{k}:checked+label{{background:var(--for);color:var(--page)}}"
            for kind in ("c", "r")
            for k in range(len(self.classes) + 1)
            if self.classes
        )
        title = escape(self.title)
        css = (
            resources.files("driftgames.plots").joinpath("explanation_page.css").read_text("utf-8")
        )
        return (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{title}, explained</title><style>{css}{rules}{picks}{switches}</style></head>"
            f"<body><h1>{title}</h1><div class='tabs'>{buttons}{shown}</div></body></html>\n"
        )

    def _switch(self, kind: str, names: Sequence[str], opened: int) -> str:
        """Return a row of buttons, of which one is pressed; those of a kind share a name."""
        return "<span class='note'>Votes for </span>" + "".join(
            f'<input type="radio" name="{kind}" id="{kind}{k}"{" checked" if k == opened else ""}>'
            f'<label class="class" for="{kind}{k}">{escape(name)}</label>'
            for k, name in enumerate(names)
        )

    def _features(self) -> str:
        order = sorted(range(len(self.features)), key=lambda j: -self.features[j].weight)
        ranked = [self.features[j] for j in order]
        most = max((feature.weight for feature in ranked), default=0.0) or 1.0
        kept = ranked[: min(MOST_FEATURES, _MOST_DRAWINGS // max(len(self.classes), 1))]
        by_class = [[each.features[j] for j in order] for each in self.classes] or [ranked]
        # every shape on one scale, so that tall means important
        drawn = [each for of_class in by_class for each in of_class[: len(kept)]]
        reach = max((each.reach for each in drawn), default=0.0) or 1.0
        rows = "".join(
            f'<input type="radio" name="feature" id="f{k}"{" checked" if k == 0 else ""}>'
            f'<label for="f{k}"><span class="name">{escape(each.name)}</span>'
            f'<span class="bar"><i style="width:{100 * each.weight / most:.1f}%"></i></span>'
            f'<span class="number">{each.weight:.3g}</span></label>'
            for k, each in enumerate(kept)
        )
        labels = [each.label for each in self.classes] or [self.label]
        shapes = "".join(
            f'<figure id="s{k}">'
            + "".join(
                f'<div class="of c{c}">{self._shape(of_class[k], reach, label)}</div>'
                for c, (label, of_class) in enumerate(zip(labels, by_class, strict=True))
            )
            + "</figure>"
            for k in range(len(kept))
        )
        left = len(ranked) - len(kept)
        more = f"<p class='note'>{left:,} features of less weight are left out.</p>" if left else ""
        switch = self._switch("c", labels, labels.index(self.label)) if self.classes else ""
        picker = f"<div class='pick'>{rows}<div class='shapes'>{shapes}</div></div>"
        what = "how far its largest vote is from its smallest"
        if all(each.importance is not None for each in ranked):
            what = "its share of the edges of all trees, 1 in all"
        note = f"<p class='note'>The number beside a name is its importance: {what}.</p>"
        return f"<h2>Importance and shape</h2>{note}{switch}{picker}{more}"

    def _shape(self, feature: FeatureShape, reach: float, label: str) -> str:
        name = escape(feature.name)
        if not len(feature.values):
            return (
                f"<figcaption>{name} votes together with other features, so it has no shape of "
                "its own. The reasons of single examples say what it did there.</figcaption>"
                if not self.of_numbers
                else f"<figcaption>{name}: a shape needs examples.</figcaption>"
            )
        what = f"its vote for {escape(label)}; below 0 it is against"
        if feature.is_mean:
            what = (
                f"its mean vote for {escape(label)}, over examples with such a value; below 0 it "
                "is against. The features of a tree vote together, so single examples differ: see "
                "their reasons"
            )
        if self.of_numbers:
            what = (
                "how far the predicted mean moves where the feature alone has such a value, on "
                "average over examples; in the unit of the outcome"
            )
        band = ""
        if feature.spread is not None:
            band = " Band: one standard deviation among the boosters that the model averages."
        grey = "" if feature.sample is None else " Grey: how many examples are there."
        caption = f"<figcaption><strong>{name}</strong>: {what}.{band}{grey}</figcaption>"
        return caption + feature.draw(reach)

    def _all_reasons(self) -> str:
        """Return the reasons of each example, for the label of its own and for each class."""
        switch = ""
        if self.classes:
            own = {reasons.label or self.label for reasons in self.examples}
            first = self.label if own == {self.label} else "the predicted class"
            switch = self._switch("r", [first, *(each.label for each in self.classes)], 0)
        parts = []
        for i, reasons in enumerate(self.examples):
            tables = [reasons, *(each.examples[i] for each in self.classes)]
            drawn = ""
            if reasons.distribution is not None:
                drawn = f'<div class="density">{draw_density(*reasons.distribution)}</div>'
            text = drawn + "".join(
                f'<div class="of r{k} wide">{self._reasons(each)}</div>'
                for k, each in enumerate(tables)
            )
            parts.append(
                f"<details{'' if i else ' open'}><summary>{escape(reasons.title)}: "
                f"<strong>{escape(reasons.decision)}</strong></summary>{text}</details>"
            )
        return f"{switch}<div>{''.join(parts)}</div>"

    def _reasons(self, reasons: Reasons) -> str:
        parts = sorted(reasons.parts, key=lambda part: -abs(part[2]))
        most = max((abs(part[2]) for part in parts), default=0.0) or 1.0
        form = _in_units(most) if self.of_numbers else "{:+.4f}".format
        rows = "".join(
            f'<tr><th scope="row">{escape(str(name))}</th><td>{escape(text_of(value))}</td>'
            f"<td class='number'>{form(part)}</td>"
            f"<td class='both'>{_bar(part / most)}</td></tr>"
            for name, value, part in parts
        )
        total = sum(part for *_, part in parts) + reasons.base
        whole = "predicted mean" if self.of_numbers else "whole vote"
        if reasons.base:
            base = "mean of all examples" if self.of_numbers else "base"
            rows += _total(base, form(reasons.base))
        vote = f"vote for {escape(reasons.label or self.label)}"
        if self.of_numbers:
            vote = "part of the mean"
        head = f"<tr><th>feature</th><th>value</th><th class='number'>{vote}</th><th></th></tr>"
        return (
            f"<table><thead>{head}</thead><tbody>{rows}</tbody>"
            f"<tfoot>{_total(whole, form(total))}</tfoot></table>"
        )

    def _guarantee(self) -> str:
        rows = "".join(
            f'<tr><th scope="row">{escape(str(name))}</th><td>{escape(text_of(value))}</td></tr>'
            for name, value in self.facts.items()
        )
        facts = f"<h2>What was fitted</h2><table class='facts'>{rows}</table>" if rows else ""
        text = f"<h2>What is guaranteed</h2><pre>{escape(self.guarantee)}</pre>"
        return facts + (text if self.guarantee else "")


def _check_members(owner: object, kinds: Mapping[str, type]) -> None:
    """Raise ValueError unless these fields are sequences of these kinds."""
    for what, kind in kinds.items():
        members = getattr(owner, what)
        if not isinstance(members, Sequence) or isinstance(members, str | bytes):
            raise ValueError(f"{what} must be a sequence; got {shown(members)}")
        for each in members:
            check_kind(f"each of {what}", each, kind)


def _in_units(most: float) -> Callable[[float], str]:
    """Return what writes numbers with three digits of the largest part.

    >>> [_in_units(18.6)(each) for each in (18.63, -0.002, 149.48)]
    ['+18.6', '-0.0', '+149.5']
    """
    digits = 2 - math.floor(math.log10(most))
    return f"{{:+,.{max(digits, 0)}f}}".format if -7 < digits < 9 else "{:+.4g}".format


def _total(name: str, vote: str) -> str:
    cells = f"<td></td><td class='number'>{vote}</td><td class='both'></td>"
    return f"<tr><th>{name}</th>{cells}</tr>"


def _bar(share: float) -> str:
    width = 50 * abs(share)
    left, kind = (50.0, "for") if share >= 0 else (50 - width, "against")
    style = f"left:{left:.1f}%;width:{width:.1f}%"
    return f'<span class="two"><i class="{kind}" style="{style}"></i></span>'
