"""A notebook that uses one object of each kind; each cell ends with an expression.

``python tests/notebook_cells.py seen.ipynb`` executes it and writes it, to be looked at.
"""

import sys

CELLS = [
    "import numpy as np\n"
    "import driftgames\n"
    "losses = np.random.default_rng(0).random((200, 8))\n"
    "learner = driftgames.Hedge(8)\n"
    "run = learner.run(losses, distributions=True)\n"
    "run",
    "learner",
    "run.certificate()",
    "run.certificate().to_frame().head(3)",
    "run.plot()",
    "run.plot_weights()",
    "from driftgames.bandit import BernoulliArms, compare\n"
    "compare(BernoulliArms([0.3, 0.5, 0.6]), 500, n_games=4)",
    "driftgames.PotentialBandit(3, horizon=500, random_state=0).run(losses[:, :3])",
    "from driftgames.games import LookaheadAdversary, PotentialPlayer, play\n"
    "phi = driftgames.NormalHedgeDT()\n"
    "foe = LookaheadAdversary(60)\n"
    "game = play(PotentialPlayer(phi), foe, n_chips=5, horizon=60, record=True)\n"
    "game",
    "game.table(last=2)",
    "game.plot()",
    "game.animate()",
    "phi.plot()",
    "from driftgames.portfolio import run as trade\n"
    "prices = np.cumprod(np.random.default_rng(1).uniform(0.97, 1.04, (80, 3)), axis=0)\n"
    "trade(prices, ['uniform', 'hold', 'soft-bayes'])",
    "driftgames.UniversalPortfolio(36)",
    "from driftgames.oco import Box, LinearLoss\n"
    "coin = driftgames.CoinBetting(Box([-1.0], [1.0]))\n"
    "coin.run([LinearLoss(np.array([g])) for g in np.sin(np.arange(50))])",
    "intervals = driftgames.AdaptiveIntervals(0.9)\n"
    "intervals.run(np.zeros(300), np.random.default_rng(2).normal(size=300))",
    "intervals.certificate()",
    "from driftgames.online_boosting import OnlineBBM\n"
    "y = np.sign(np.random.default_rng(3).normal(size=100))\n"
    "votes = y[:, None] * np.sign(np.random.default_rng(4).normal(0.5, 1, (100, 5)))\n"
    "OnlineBBM(5).run(votes, y)",
    "from sklearn.datasets import load_wine\n"
    "X, y = load_wine(return_X_y=True, as_frame=True)\n"
    "model = driftgames.NHBoostDTClassifier(40, max_leaves=2).fit(X, y)\n"
    "model.certificate_",
    "model.explain(X.iloc[0])",
    "model.shape_functions_[0]['proline']",
    "model.explain_model(X, n_examples=3)",
    "race = driftgames.NHBoostDTClassifier().fit(X[:90], y[:90])\nrace.chosen_",
    "race.record_",
    "from driftgames.bandit import PullLog, TsallisINF, off_policy_value\n"
    "log = PullLog(TsallisINF(3, random_state=0))\n"
    "log.run(losses[:, :3])\n"
    "off_policy_value(log.to_frame('pandas'), {0: 1.0})",
    "from driftgames.certificates import mean_interval\nmean_interval(losses[:, 0])",
    "from driftgames.core import progress\n"
    "progress.PATIENCE = -1.0  # at once\n"
    "with progress.progress('playing', 30, 'rounds') as advance:\n"
    "    for _ in range(30):\n"
    "        advance(1)",
]


def execute(path: str) -> None:
    """Run the cells in a kernel and write the notebook with its outputs."""
    import nbformat
    from nbclient import NotebookClient

    cells = [nbformat.v4.new_code_cell(text) for text in CELLS]
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    nbformat.write(notebook, path)


if __name__ == "__main__":
    execute(sys.argv[1])
