"""Contexts and advice: SquareCB and EXP4, their regressions by hand, their bounds, their files."""

import numpy as np
import pandas as pd
import pytest

from driftgames.bandit import Exp4, PullLog, SquareCB, off_policy_value
from driftgames.core.documents import DocumentError
from driftgames.potentials import NoBoundError


def world(rounds, seed=0, n_arms=3, d=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, d))
    X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1.0)
    theta = np.linspace(-0.5, 0.5, d * n_arms).reshape(d, n_arms)
    theta /= 2 * np.linalg.norm(theta, axis=0)
    means = 0.5 + X @ theta
    return X, means, (rng.random(means.shape) < means).astype(float)


def advise(rounds, n_arms=3, seed=0):
    rng = np.random.default_rng(seed)
    advice = rng.dirichlet(np.ones(n_arms), size=(rounds, 4))
    losses = (rng.random((rounds, n_arms)) < 0.7).astype(float)
    good = losses.argmin(axis=1)
    advice[:, 2] = np.eye(n_arms)[good]
    return advice, losses


MAKERS = {
    "ridge": (lambda **kw: SquareCB(3, n_features=2, **kw), lambda t: world(t)[::2]),
    "logistic": (
        lambda **kw: SquareCB(3, n_features=2, model="logistic", intercept=False, **kw),
        lambda t: world(t)[::2],
    ),
    "exp4": (lambda **kw: Exp4(3, experts=list("abcd"), **kw), advise),
}


@pytest.fixture(params=MAKERS)
def case(request):
    return MAKERS[request.param]


def stream(policy, contexts, losses):
    drawn = []
    for x, row in zip(contexts, losses, strict=True):
        p = policy.distribution(x)
        arm, prob = policy.pull(x)
        assert prob == p[arm]
        assert p.sum() == pytest.approx(1)
        policy.update(arm, float(row[arm]), prob, x)
        drawn.append(arm)
    return drawn


def test_a_run_equals_its_stream_and_a_saved_policy_goes_on_to_the_same_bits(case, tmp_path):
    make, source = case
    contexts, losses = source(120)
    whole = make(random_state=0)
    run = whole.run(contexts, losses)
    step = make(random_state=0)
    first = stream(step, contexts[:50], losses[:50])
    step.save(tmp_path / "state.json")
    again = type(step).load(tmp_path / "state.json")
    assert again == step
    assert first + stream(again, contexts[50:], losses[50:]) == run.drawn.tolist()
    assert again == whole


def test_a_bad_context_or_loss_leaves_the_policy_as_it_was(case):
    make, source = case
    contexts, losses = source(5)
    policy = make(random_state=0)
    policy.run(contexts, losses)
    before = policy.copy()
    bad = np.full(policy.context_shape, np.nan)
    for call in (
        lambda: policy.pull(None),
        lambda: policy.pull(bad),
        lambda: policy.pull(contexts[0].ravel()[:1]),
        lambda: policy.pull("abc"),
        lambda: policy.update(0, 0.5, 0.5, contexts[0]),
        lambda: policy.watch(0, 2.0, 0.5, contexts[0]),
        lambda: policy.run(contexts, losses + 3),
        lambda: policy.run(contexts[:-1], losses),
    ):
        with pytest.raises(ValueError, match=r"context|pull|loss"):
            call()
    assert policy == before


def test_late_losses_and_watched_pulls_promise_nothing(case):
    make, source = case
    contexts, losses = source(4)
    policy = make(random_state=0)
    pulls = [policy.pull(x) for x in contexts[:2]]
    for (arm, prob), x in zip(pulls, contexts, strict=False):
        policy.update(arm, 1.0, prob, x)
    with pytest.raises(NoBoundError, match="come at once"):
        policy.bound(2, 1.0)
    policy.watch(0, 1.0, 0.5, contexts[2])
    with pytest.raises(NoBoundError, match="watched"):
        policy.bound(3, 1.0)
    again = policy.run(contexts, losses)
    assert again.first_round == 4
    assert np.isinf(again.certificate().promised).all()


def test_ridge_regression_is_the_forecaster_of_vovk_azoury_and_warmuth():
    X, _, losses = world(60)
    policy = SquareCB(3, n_features=2, ridge=0.7, random_state=1)
    Z = np.column_stack([X, np.ones(len(X))])
    A, b, logs = np.tile(0.7 * np.eye(3), (3, 1, 1)), np.zeros((3, 3)), 0.0
    for x, z, row in zip(X, Z, losses, strict=True):
        wanted = [0.5 + b[a] @ np.linalg.solve(A[a] + np.outer(z, z), z) for a in range(3)]
        np.testing.assert_allclose(policy.expected(x), np.clip(wanted, 0, 1), rtol=1e-9)
        arm, prob = policy.pull(x)
        policy.update(arm, row[arm], prob, x)
        before = np.linalg.slogdet(A[arm])[1]
        A[arm] += np.outer(z, z)
        b[arm] += (row[arm] - 0.5) * z
        logs += np.linalg.slogdet(A[arm])[1] - before
    assert policy._engine.numbers[9] == pytest.approx(logs)


def test_inverse_gap_weighting_by_hand():
    X, _, losses = world(200)
    policy = SquareCB(3, n_features=2, greed=2.0, random_state=1)
    policy.run(X, losses)
    t, numbers = policy.t + 1, policy._engine.numbers
    z = np.append(X[0], 1.0)
    matrices = policy._engine.memory.reshape(3, 12)[:, 3:].reshape(3, 3, 3)
    f = np.clip(policy.expected(X[0]) - 0.5 * np.sqrt(z @ matrices @ z), 0, 1)
    errors = (np.sqrt(3 + numbers[9] / 4) + np.sqrt(numbers[13])) ** 2
    gamma = max(numbers[10], 2.0 * np.sqrt(8 * 3 * t / errors))
    p = 1 / (3 + gamma * (f - f.min()))
    p[f.argmin()] = 0
    p[f.argmin()] = 1 - p.sum()
    np.testing.assert_allclose(policy.distribution(X[0]), p, rtol=1e-12)


def test_what_optimism_takes_off_is_added_up():
    X, _, losses = world(100)
    policy = SquareCB(3, n_features=2, optimism=2.0, random_state=1)
    total = 0.0
    for x, row in zip(X, losses, strict=True):
        z = np.append(x, 1.0)
        arm, prob = policy.pull(x)
        P = policy._engine.memory.reshape(3, 12)[arm, 3:].reshape(3, 3)
        total += z @ P @ z
        policy.update(arm, row[arm], prob, x)
    assert policy._engine.numbers[13] == pytest.approx(total)  # (2 / 2)^2 times the sum


def test_contexts_pay_and_both_regressions_find_the_best_arm():
    X, means, losses = world(4000, n_arms=3)
    for model in ("ridge", "logistic"):
        policy = SquareCB(3, n_features=2, model=model, random_state=0)
        run = policy.run(X, losses)
        paid = means[np.arange(4000), run.drawn].sum()
        assert paid - means.min(axis=1).sum() < 0.35 * (
            means.sum(axis=0).min() - means.min(axis=1).sum()
        )


def test_a_log_of_contexts_tells_what_another_policy_would_have_lost():
    X, means, losses = world(1500)
    log = PullLog(SquareCB(3, n_features=2, greed=0.5, random_state=0))
    for x, row in zip(X, losses, strict=True):
        arm, prob = log.pull(context=x)
        log.update(arm, float(row[arm]), prob, x)
    best = means.argmin(axis=1)
    asked = iter(best)
    found = off_policy_value(log, lambda past, context: {int(next(asked)): 1.0})
    assert found.low <= means.min(axis=1).mean() + 0.02
    assert found.value == pytest.approx(losses[np.arange(1500), best].mean(), abs=0.1)
    own = off_policy_value(log, SquareCB(3, n_features=2, greed=0.5, random_state=7))
    assert own.value == pytest.approx(np.mean(log.columns["loss"]), rel=1e-9)
    frame = log.to_frame("polars")
    assert off_policy_value(frame, SquareCB(3, n_features=2, greed=0.5)).value == own.value
    with pytest.raises(ValueError, match="needs a log with contexts"):
        off_policy_value(frame.drop("context"), SquareCB(3, n_features=2))
    with pytest.raises(ValueError, match="pull by pull"):
        log.run(losses)


def test_bad_advice_and_bad_settings_are_named():
    policy = Exp4(2, experts=["a", "b"])
    with pytest.raises(ValueError, match=r"must sum to 1; got 1.5 of expert 'b'"):
        policy.pull([[0.5, 0.5], [1.0, 0.5]])
    with pytest.raises(ValueError, match="nonnegative; got -1 of expert 'a'"):
        policy.pull([[-1.0, 2.0], [1.0, 0.0]])
    for experts in (0, [], ["a", "a"], True, 1.5, None):
        with pytest.raises(ValueError, match=r"expert|names"):
            Exp4(2, experts=experts)
    for settings in (
        {"model": "tree"},
        {"greed": 0},
        {"ridge": -1},
        {"n_features": 0},
        {"optimism": -1},
    ):
        with pytest.raises(ValueError, match=next(iter(settings))):
            SquareCB(2, **{"n_features": 2, **settings})


def test_a_broken_matrix_in_a_file_is_refused(tmp_path, rewrite):
    path = tmp_path / "state.json"
    SquareCB(2, n_features=1, random_state=0).save(path)

    def break_it(content):
        from driftgames.core.documents import decode_array, encode_array

        memory = decode_array(content["state"]["memory"]).copy()
        memory[3] = 5.0
        content["state"]["memory"] = encode_array(memory)

    rewrite(path, break_it)
    with pytest.raises(DocumentError, match="symmetric"):
        SquareCB.load(path)


@pytest.mark.parametrize("make", [dict, pd.Series])
def test_a_named_context_is_read_by_the_names_of_the_features(make, tmp_path):
    named = SquareCB(3, feature_names=["age", "hour"], random_state=0)
    plain = SquareCB(3, n_features=2, random_state=0)
    log = PullLog(named)
    rng = np.random.default_rng(1)
    for age, hour in rng.normal(size=(30, 2)).tolist():
        context = make({"hour": hour, "age": age})
        pull = log.pull(context=context)
        assert pull == plain.pull([age, hour])
        log.update(pull[0], 0.5, pull[1], context)
        plain.update(pull[0], 0.5, pull[1], [age, hour])
    assert log.columns["context"][-1] == [age, hour]
    named.save(tmp_path / "s.json")
    assert SquareCB.load(tmp_path / "s.json") == named
    with pytest.raises(ValueError, match="context must have the names age, hour; got age, day"):
        named.pull(make({"age": 1.0, "day": 2.0}))
    frame = pd.DataFrame({"hour": [1.0], "age": [2.0]})
    with pytest.raises(ValueError, match="columns of contexts must be age, hour, in this order"):
        named.run(frame, [[0.1, 0.2, 0.3]])
    for bad in ([], "ab", ["a", "a"], [1, 2], ["a"]):
        with pytest.raises(ValueError, match="feature_names must be 2 different strings"):
            SquareCB(3, n_features=2, feature_names=bad)


def test_advice_is_read_by_the_names_of_the_experts():
    policy = Exp4(2, experts=["blind", "seer"], random_state=0)
    advice = {"seer": [1.0, 0.0], "blind": [0.5, 0.5]}
    wanted = policy.distribution([[0.5, 0.5], [1.0, 0.0]])
    np.testing.assert_array_equal(policy.distribution(advice), wanted)


def test_a_policy_with_contexts_has_a_certificate_of_its_promise(case):
    make, play = case
    policy = make(random_state=0)
    with pytest.raises(ValueError, match="no round was played"):
        policy.certificate()
    policy.run(*play(30))
    certificate = policy.certificate()
    assert np.isnan(certificate.realised).all()
    assert certificate.verdict in ("the regret is not known", "nothing is promised")
    assert certificate.holds
