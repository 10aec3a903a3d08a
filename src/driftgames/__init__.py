"""Online learning and boosting from drifting games.

Losses push chips along a line, a potential weighs each chip by where it stands, and the
weights are the decision. Experts, bandit arms, points of a convex set and training examples
are all chips. [LS14] is Luo and Schapire, "A Drifting-Games Analysis for Online Learning and
Applications to Boosting", 2014.
"""

__version__ = "0.1.0"
