"""Theorem 3 for more than two classes: what it promises about pairs, and about the argmax."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from driftgames.certificates.margins import SHOWN, MarginCertificate


@dataclass(frozen=True, eq=False)
class PairCertificate(MarginCertificate):
    r"""The certificate of a booster of pairs (example, label), for ``n_classes`` classes.

    .. math:: \frac{\#\{i : \arg\max_l f_l(x_i) \ne y_i\}}{N} \le 2 (K - 1) \, P(0)

    where :math:`f_l` is the normalised vote for class ``l`` and :math:`P(\theta)` the share of the
    mass of all pairs with a margin of at most :math:`\theta`. The curve over ``thetas`` is about
    pairs: Theorem 3 holds for them as it stands. ``training_error`` is that of the argmax, and
    ``error_bound`` what follows for it. [LS14, Thm. 3]

    Notes
    -----
    The pair of example ``i`` and label ``l`` has the margin :math:`f_l(x_i)` if ``l`` is the right
    label :math:`y_i`, else :math:`-f_l(x_i)`. The right pair of an example has the mass
    :math:`K - 1`, and each of the :math:`K - 1` others the mass 1, so that the example has
    :math:`2(K - 1)`.

    *Proof.* If the argmax errs, some wrong label has :math:`f_l \ge f_y`: ties, which go to the
    lowest class, are included. If :math:`f_y \le 0`, the right pair has a margin of at most 0.
    Otherwise :math:`f_l > 0`, and the pair of ``l`` has a negative margin. Either way a mass of at
    least 1 out of the example's :math:`2(K - 1)` has a margin of at most 0. The constant is the
    best one: one wrong pair of mass 1 is enough for an error.

    AdaBoost's bound is one on the mean of :math:`e^{-m}` over all pairs, where ``m`` is the margin
    times the sum of the votes. If the argmax errs, the margins of the right pair and of some other
    pair sum to at most 0, so that :math:`(K-1) e^{-m} + e^{-m'} \ge 2 \sqrt{K-1}`. The constant
    is then :math:`2(K-1) / (2 \sqrt{K-1}) = \sqrt{K-1}` (Schapire and Freund, *Boosting*, 2012,
    Chap. 10).
    """

    n_classes: int = 3

    @classmethod
    def of(cls, pairs: MarginCertificate, n_classes: int, errors_per_pair: float) -> Self:
        """Return the certificate of pairs with the bound that follows for the argmax."""
        members = {**vars(pairs), "error_bound": min(errors_per_pair * pairs.error_bound, 1.0)}
        if pairs.needed is not None:
            n_examples = pairs.needed.n_examples // (2 * (n_classes - 1))
            members["needed"] = pairs.needed._replace(n_examples=n_examples)
        return cls(**members, n_classes=n_classes)

    def table(self, thetas: Sequence[float] = SHOWN) -> str:
        """Return the lines for these thetas as text; they are about pairs."""
        return f"pairs of an example and one of {self.n_classes} labels:\n{super().table(thetas)}"
