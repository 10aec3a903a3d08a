"""What every learner does in a round: weigh, check, charge, learn, and keep its totals.

`base` has the interface of all learners: rows of losses in, distributions, runs, certificates and
files out. `two_pass` and `scale_free` are the loops of learners with statistics of their own, and
`linearised` charges experts by the slope of a loss. The learners themselves, `learners` and
`tracking`, add their weights and their bounds.
"""
