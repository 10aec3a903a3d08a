r"""The shape of a tree: how large it may grow, and the criterion that chooses its questions.

Let a node hold the weights :math:`W_-` and :math:`W_+` of the two classes, :math:`W = W_- + W_+`.
Two criteria choose the question of the largest sum over its two sides of

.. math:: \frac{(W_+ - W_-)^2}{W} \quad \text{(Gini)}, \qquad
          \frac{(W_+ - W_-)^2}{W + 2\sqrt{W_- W_+}} \quad \text{(Kearns and Mansour)}

The second is :math:`W - 2\sqrt{W_- W_+}`, written without a difference of near numbers: the
criterion of Kearns and Mansour (1999), for which a small edge in every node makes the error of
the tree fall. With several classes the sum runs over all labels too: the pairs of a leaf and a
label are a leaf of their own.

The exhaustive stump has the question of the largest edge. Of two classes, its sides vote against
each other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction

from driftgames.core.checks import check_between, check_integer
from driftgames.core.registry import choose

GINI, KEARNS_MANSOUR, EXHAUSTIVE = 0, 1, 2
"""The criteria by their numbers in the loops."""

CRITERIA = {"gini": GINI, "kearns-mansour": KEARNS_MANSOUR}
"""The criteria by name."""


@dataclass(frozen=True)
class TreeShape:
    """How large a tree may grow, and the criterion that chooses its questions."""

    max_depth: int | None = 1
    max_leaves: int | str | None = None
    min_samples_leaf: int = 1
    min_weight_fraction_leaf: float = 0.0
    criterion: str = "gini"

    def __post_init__(self) -> None:
        if self.max_depth is not None:
            check_integer("max_depth", self.max_depth, least=1)
        elif self.max_leaves is None:
            raise ValueError("max_leaves must be given if max_depth is None")
        if isinstance(self.max_leaves, str):
            choose("max_leaves", self.max_leaves, {"auto": True})
        elif self.max_leaves is not None:
            check_integer("max_leaves", self.max_leaves, least=2)
        check_integer("min_samples_leaf", self.min_samples_leaf, least=1)
        share = check_between("min_weight_fraction_leaf", self.min_weight_fraction_leaf, 0, 0.5)
        if share > 0 and self.min_samples_leaf > 1:
            raise ValueError(
                "min_samples_leaf must be 1 beside a positive min_weight_fraction_leaf; "
                f"got {self.min_samples_leaf} and {share}"
            )
        choose("criterion", self.criterion, CRITERIA)

    @property
    def is_stump(self) -> bool:
        """Whether the tree is the exhaustive stump."""
        return (self.max_depth == 1 or self.max_leaves == 2) and not self.has_least_size

    @property
    def is_open(self) -> bool:
        """Whether the number of leaves is left to the examples."""
        return self.max_depth is None and self.max_leaves == "auto"

    @property
    def has_least_size(self) -> bool:
        """Whether a leaf has a least size: a number of rows, or a share of the mass."""
        return self.min_samples_leaf > 1 or self.min_weight_fraction_leaf > 0

    def least_size(self, mass: int) -> int:
        """Return the least size of a leaf, where all examples have this mass."""
        share = Fraction(str(float(self.min_weight_fraction_leaf)))  # 0.07 of 100 is 7
        return math.ceil(share * mass) if share else self.min_samples_leaf

    @property
    def most_leaves(self) -> int | None:
        """``max_leaves`` of a shape that `fitted_to` has returned."""
        assert not isinstance(self.max_leaves, str)
        return self.max_leaves

    def numbers(self, mass: int) -> Sequence[int]:
        """Return depth and leaves (-1: no limit), least size and criterion, for the loops."""
        depth, leaves = (-1 if n is None else n for n in (self.max_depth, self.most_leaves))
        if self.is_stump:
            depth, leaves = 1, -1
        criterion = EXHAUSTIVE if self.is_stump else CRITERIA[self.criterion]
        return depth, leaves, self.least_size(mass), criterion

    def fitted_to(self, n_classes: int, n_examples: int) -> TreeShape:
        """Return the shape for these examples.

        "auto" sets no limit beside a ``max_depth``. Otherwise it is two leaves more than classes:
        the size where none can be chosen. Raise ValueError for more leaves, or larger leaves, than
        the examples can fill.
        """
        if isinstance(self.max_leaves, str):
            least = min(2 + n_classes, n_examples) if self.max_depth is None else None
            return replace(self, max_leaves=least).fitted_to(n_classes, n_examples)
        if self.max_leaves is not None and self.max_leaves > n_examples:
            raise ValueError(
                f"max_leaves must be at most {n_examples}, the number of examples of positive "
                f"weight; got {self.max_leaves}"
            )
        if self.min_samples_leaf > 1 and 2 * self.min_samples_leaf > n_examples:
            raise ValueError(
                f"min_samples_leaf must be at most {n_examples // 2}, half of the examples of "
                f"positive weight; got {self.min_samples_leaf}"
            )
        return self


STUMP = TreeShape()
"""The exhaustive stump."""

SETTINGS = tuple(each.name for each in fields(TreeShape))
"""The names of the settings of a shape."""
