"""Forecasters combined: a learner behind the interface of scikit-learn, for one series or many.

`expert_mixture` is what a user calls. Behind it `mixture_game` plays the rounds of one learner over
the experts and their `combiners`, and `mixture_files` writes and reads the state. `hindsight` is
the best combination, against which a mixture is measured.
"""
