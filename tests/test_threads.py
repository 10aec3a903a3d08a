"""Several threads may share a learner: no loss is lost, and no read sees half a round."""

import copy
import pickle
import sys
import threading

import numpy as np
import pytest

from driftgames.bandit import TsallisINF
from driftgames.hedge import ExpertMixture, Hedge
from driftgames.oco import Box, CoinBetting, LinearLoss
from driftgames.portfolio import BuyAndHold

THREADS, ROUNDS = 4, 400


@pytest.fixture(autouse=True)
def _switch_often():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def run_in_threads(step, rounds=ROUNDS):
    failures = []

    def play():
        try:
            for _ in range(rounds):
                step()
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=play) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_hedge_counts_every_loss():
    shared, alone = Hedge(2000), Hedge(2000)
    row = np.linspace(0, 1, 2000)

    def step():
        shared.update(row)
        assert shared.distribution().sum() == pytest.approx(1.0)

    run_in_threads(step)
    alone.run(np.tile(row, (THREADS * ROUNDS, 1)), progress=False)
    assert shared == alone  # all rows are alike, so the order does not matter


def test_a_policy_counts_every_pull():
    policy = TsallisINF(3, random_state=0)

    def step():
        arm, prob = policy.pull()
        policy.update(arm, 0.5, prob)

    run_in_threads(step)
    assert (policy.t, policy.pending) == (THREADS * ROUNDS, 0)
    assert policy._engine.learner_loss == 0.5 * THREADS * ROUNDS


def test_convex_sets_and_portfolios_count_every_round():
    bettor, holder = CoinBetting(Box([0.0], [1.0])), BuyAndHold(2)
    run_in_threads(lambda: (bettor.update(LinearLoss([0.5])), holder.update([1.0, 1.01])))
    assert bettor.t == holder.t == THREADS * ROUNDS
    assert bettor._gradients.tolist() == [0.5 * THREADS * ROUNDS]
    assert holder._log_prices[1] == pytest.approx(THREADS * ROUNDS * np.log(1.01))


def test_a_mixture_counts_every_round():
    mixture = ExpertMixture().fit([[0.0, 1.0]], [0.5])
    run_in_threads(lambda: mixture.partial_fit([[0.0, 1.0]], [0.5]), rounds=8)
    assert mixture.learner_.t == 1 + 8 * THREADS
    assert mixture.rounds_awake_.tolist() == [1 + 8 * THREADS] * 2


def test_a_call_inside_of_a_call_does_not_wait_for_itself():
    learner = CoinBetting(Box([0.0], [1.0]))

    def losses():
        yield LinearLoss([1.0])
        learner.predict()
        yield LinearLoss([1.0])

    assert learner.run(losses()).learner.t == 2


def test_copies_and_pickles_have_locks_of_their_own():
    learner = Hedge(2)
    with learner._lock:
        for twin in (learner.copy(), copy.deepcopy(learner), pickle.loads(pickle.dumps(learner))):
            thread = threading.Thread(target=twin.update, args=([0.0, 1.0],))
            thread.start()
            thread.join(timeout=60)
            assert twin.t == 1
