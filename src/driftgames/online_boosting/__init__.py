"""Online boosting: weak learners that see one example at a time, combined as a drifting game.

Every example is a chip that begins at 0. Weak learner i moves it by +1 if it is right and by -1
if it is wrong, and the weight of the example for the next weak learner is a potential's difference
at its margin so far. In boosting all chips move at once in each round; here one chip moves through
all weak learners before the next chip comes.

`OnlineBBM` has the minimax potential of boost-by-majority: it is optimal for a known edge.
`AdaBoostOL` has logistic weights, finds the votes of the weak learners by gradient steps, and
leaves it to AdaHedge how many of them to use. Both are from A. Beygelzimer, S. Kale and H. Luo,
"Optimal and adaptive algorithms for online boosting", ICML 2015.

`driftgames.online_boosting.river` boosts any classifier of river, and
`driftgames.online_boosting.partial_fit` any classifier with ``partial_fit``.
"""

from driftgames.online_boosting.adaboost_ol import AdaBoostOL
from driftgames.online_boosting.adapters import ONLINE_BOOSTERS, make_booster
from driftgames.online_boosting.bbm import OnlineBBM
from driftgames.online_boosting.online_booster import OnlineBooster, VoteRun

__all__ = ["ONLINE_BOOSTERS", "AdaBoostOL", "OnlineBBM", "OnlineBooster", "VoteRun", "make_booster"]
