"""BOA: its formula, its scales, and what its bound counts."""

import math

import numpy as np
import pytest

from driftgames.certificates import bounds
from driftgames.core.documents import DocumentError, encode_array
from driftgames.core.state import nested, restore_nested
from driftgames.hedge import BOA, ExpertLearner


def plain(L, q, bounded=False):
    """Yield the distributions of the formula, and the costs, one over the rates, and ln W."""
    n = len(q)
    there = q > 0
    charged, V, costs, W = np.zeros(n), np.zeros(n), np.zeros(n), 1.0
    S = np.full(n, 1.0 if bounded else 0.0)
    charges = np.maximum(np.log(1 / np.where(there, q, 1.0)), math.log(2))

    def widths(unknown):
        return np.maximum(2 * np.where(S > 0, S, unknown), np.sqrt(V / charges))

    for row in L:
        known = S[there & (S > 0)]
        unknown = known.mean() if known.size else 1.0
        w = np.where(there, q / widths(unknown) * np.exp(charged / widths(unknown)), 0.0)
        p = w / w.sum()
        r = p @ row - row
        if not known.size:
            unknown = np.abs(r[there]).max()
        D, scale, before = widths(unknown), np.where(S > 0, S, unknown), S > 0
        clipped = np.clip(r, -scale, scale)
        X = q * np.exp(charged / D)
        W += max((X * clipped / D).sum(), 0.0)
        costs += clipped**2 / D + np.maximum(r - clipped, 0.0)
        charged, V = charged + clipped - clipped**2 / D, V + clipped**2
        S = np.maximum(S, np.abs(r))
        slower = np.minimum((np.maximum(widths(unknown) / D, 1.0) - 1.0) / math.e, 1.0)
        first = np.where(~before & (charged > 0), math.sqrt(math.e) - 1.0, 0.0)
        W += (q * np.maximum(slower, first)).sum()
        assert (q * np.exp(charged / widths(unknown))).sum() <= W * (1 + 1e-12)
        yield p, costs, widths(unknown), math.log(W)


@pytest.mark.parametrize("bounded", [True, False])
def test_the_weights_and_the_certificate_are_the_formula(bounded):
    rng = np.random.default_rng(0)
    q = np.array([0.4, 0.3, 0.2, 0.1, 0.0])
    L = rng.random((300, 5)) * (1.0 if bounded else np.exp(3 * rng.normal(size=(300, 1))))
    learner = BOA(5, prior=q, loss_range=(0.0, 1.0) if bounded else None)
    played = learner.run(L, distributions=True).distributions
    wanted = list(plain(L, q, bounded))
    np.testing.assert_allclose(played, [p for p, *_ in wanted], rtol=1e-7, atol=1e-12)
    _, costs, widths, log_weight = wanted[-1]
    best = np.argsort(learner.positions[:4])
    wanted = bounds.boa_of_run(
        np.cumsum(q[best]),
        shares=q[best],
        costs=costs[best],
        widths=widths[best],
        log_weight=log_weight,
    )
    np.testing.assert_allclose(learner.certificate().promised, wanted, rtol=1e-7)
    assert learner.certificate().holds


def test_the_bound_of_a_run_is_at_most_the_bound_of_any_run():
    for rounds in (1, 3, 50, 4000):
        L = np.random.default_rng(rounds).integers(0, 2, (rounds, 4)).astype(float)
        learner = BOA(4)
        learner.run(L)
        found = learner.certificate()
        assert (found.promised <= learner.bound(rounds, found.epsilons) + 1e-9).all()


def test_each_action_has_the_scale_of_its_own_regrets():
    rng = np.random.default_rng(1)
    L = rng.normal(size=(400, 4))
    L[:, 1] -= 0.5
    L[:, 3] *= 1e4  # far off, and awake only after the others have their scales
    awake = np.ones(L.shape, bool)
    awake[:200, 3] = False
    learner = BOA(4, loss_range=None)
    learner.run(L, awake=awake)
    scales = learner._rows(learner._memory)[2]
    assert scales[3] > 10 * scales[:3].max()
    assert scales[:3].min() > 0


def test_a_quantile_costs_less_than_the_best_action():
    L = np.random.default_rng(2).random((500, 64))
    L[:, :32] *= 0.8
    learner = BOA(64)
    learner.run(L)
    found = learner.certificate()
    assert found.at(0.5).promised < 0.8 * found.promised[0]


def test_a_state_with_other_scales_is_refused():
    content = nested(BOA(2))
    memory = np.zeros(9)
    memory[5:7] = 3.0
    content["state"]["memory"] = encode_array(memory)
    with pytest.raises(DocumentError, match="scales must be 1; got 3"):
        restore_nested(content, ExpertLearner)
    memory[5:7], memory[3] = 1.0, -1.0
    content["state"]["memory"] = encode_array(memory)
    with pytest.raises(DocumentError, match="memory must be nonnegative"):
        restore_nested(content, ExpertLearner)
    memory[3], memory[1] = 0.0, -1.0  # what an action was charged may be negative
    content["state"]["memory"] = encode_array(memory)
    assert restore_nested(content, ExpertLearner).distribution()[0] < 0.5
