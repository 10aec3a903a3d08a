"""Hedge: the paper's learner from expert advice, for any potential."""

from __future__ import annotations

from driftgames.hedge.potential_learner import PotentialLearner


class Hedge(PotentialLearner):
    r"""The general Hedge algorithm. Default: NormalHedge.DT.

    .. math:: p_{t,i} \propto \Phi_t(s_{t-1,i} - 1) - \Phi_t(s_{t-1,i} + 1), \qquad
              s_{t,i} = s_{t-1,i} + \ell_{t,i} - p_t\cdot\ell_t

    With `NormalHedgeDT` there is no learning rate and no horizon, and the bound holds at all
    times and for every epsilon at once. [LS14, Alg. 3, Thm. 2, Cor. 2]

    Parameters
    ----------
    n_actions : int
        N, at least 1.
    potential : Potential, optional
        `Exponential`, `TwoNorm`, or your own. Default: `NormalHedgeDT()`.
    prior, loss_range, gains, dtype, names
        As `ExpertLearner` describes.

    Examples
    --------
    >>> h = Hedge(n_actions=3)
    >>> h.distribution()
    array([0.33333333, 0.33333333, 0.33333333])
    >>> h.update([0.2, 0.9, 0.4])
    0.5
    >>> h.distribution()
    array([0.53280323, 0.10126953, 0.36592724])
    >>> print(h.certificate())
    NormalHedge.DT after 1 round: every bound holds
     epsilon  realised  promised     slack
       0.333     0.300     2.223     1.923
         0.5     0.100     1.841     1.741
           1    -0.400     1.619     2.019
    """

    @property
    def title(self) -> str:
        """The name of the algorithm that the potential gives."""
        return self._potential.title
