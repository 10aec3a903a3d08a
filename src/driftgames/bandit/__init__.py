"""Bandits: one arm a round, and only its loss is seen.

The arms are chips. A pull of arm i with probability p and loss l estimates that arm i lost
``l/p`` and the others nothing, which is right on average. A chip moves by its estimated loss
less the loss of the player: by at least -1, with a variance of at most ``1/p``. The proof for
potentials needs nothing more [LS14, Sec. 4, Thm. 4].

`PotentialBandit` is the paper's recipe, which is EXP3 by default. `TsallisINF` is follow the
regularised leader, with the best known regret for both stochastic and adversarial losses.
`Exp3IX` has a bound on the regret itself rather than on its mean. `compare` plays them against
each other. `PullLog` records pulls with their propensities, and `off_policy_value` estimates from
them what another policy would have lost. Losses may come late: every policy counts the delays.
Its bound grows with them, or says that nothing is promised.

Names are imported from their modules when first used, so that `POLICIES` is quick to read.
"""

from driftgames.core.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
