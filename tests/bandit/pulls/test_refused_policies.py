"""Files of policies that must be refused: one table."""

import json

import numpy as np
import pytest

from driftgames.bandit import Exp3IX, PotentialBandit, TsallisINF
from driftgames.bandit.engines import clock_kernels as clock
from driftgames.bandit.engines import exponential_engine as kernels
from driftgames.core.documents import DocumentError
from tests.refusals import check_files_of

NINE = [[arm, p, 1, []] for arm in range(3) for p in (0.1, 0.2, 0.3)]
ANY_POLICY = [
    ("state.pending", [[50, 0.5, 1, []]], "a pull of 50 waits, and there is no such arm"),
    ("state.pending", [[0, 0.0, 1, []]], r"a probability must lie in \(0, 1\]; got 0.0"),
    ("state.pending", [[0, float("nan"), 1, []]], "a probability must lie in"),
    ("state.pending", [[0, 0.5, 0, []]], "a count must be an integer >= 1; got 0"),
    ("state.pending", [[0, 0.5, 1, [0.1, 0.1]]], "1 pulls alike need [01] gammas; got 2"),
    ("state.pending", [[0, 0.5, 9, []]], "9 pulls wait|9 pulls alike need 9 gammas; got 0"),
    ("state.pending", [[0, 0.5]], "not a whole"),
    ("state.pending", NINE, "9 pulls wait|need 1 gammas; got 0"),
    ("state.estimates.1", np.inf, "estimates must be finite; got inf at index 1"),
    ("state.estimates.1", np.nan, "estimates must be finite; got nan at index 1"),
    ("state.numbers.0", -7.0, "the clock must lie in"),
    ("state.numbers.0", 7.5, "the clock must be a whole number; got 7.5"),
    ("state.numbers.0", np.nan, "the clock must lie in"),
    ("state.numbers.1", 9.0, r"the learner's loss must lie in \[0, 4\]; got"),
    (f"state.numbers.{clock.ANSWERED}", 9.0, r"the number of losses must lie in \[0, 5\]; got"),
    (f"state.numbers.{clock.ANSWERED}", 2.5, "the number of losses must be a whole number"),
    (f"state.numbers.{clock.DELAY}", 11.0, r"the delay must lie in \[0, 10\]; got"),
    (f"state.numbers.{clock.DELAY}", -1.0, "the delay must lie in"),
    (f"state.numbers.{clock.DRIFT}", 99.0, "the drift must lie in"),
    (f"state.numbers.{clock.DRIFT}", -1.0, "the drift must lie in"),
    ("arguments.n_arms", 10**15, r"estimates must be float64\[10{15}\]; got float64\[3\]"),
    ("state.n_ever", 2, "n_ever must be an integer >= 3"),
    ("state.arms_changed", 1, "arms_changed must be"),
    ("state.generator", 5, "not a whole"),
    ("state.generator.bit_generator", "system", "no bit generator 'system'"),
    ("state.generator.state", {"state": 1}, "no PCG64 can be in this state"),
]
NONNEGATIVE = [("state.estimates.1", -1.0, "estimates must lie in")]
"""Not for reduced variance, where estimates may be negative."""

CONSTANTS = [
    (f"state.numbers.{kernels.RATE}", -5.0, "rate|numbers must be"),
    (f"state.numbers.{kernels.ARMS}", 100_000.0, "numbers must be"),
    (f"state.numbers.{kernels.IMPLICIT}", 3.0, "numbers must be"),
    (f"state.numbers.{kernels.DECAY}", 7.0, "numbers must be"),
    (f"state.numbers.{kernels.UNTIL}", 3.0, "numbers must be"),
    (f"state.numbers.{kernels.BASE}", 1e9, "the base must lie in"),
    (f"state.numbers.{kernels.BASE}", -1e9, "the base must lie in"),
]
"""Of exponential weights."""


def test_a_file_that_no_game_can_have_left_is_refused(make, tmp_path):
    policy = make(3, random_state=0)
    policy.run(np.full((5, 3), 0.5), delays=1)
    negative = getattr(policy, "reduced_variance", False)
    own = policy.title.startswith("Algorithm")
    given = {"potential": policy.potential} if own else {}
    check_files_of(
        policy, tmp_path / "p.json", ANY_POLICY + ([] if negative else NONNEGATIVE), **given
    )


@pytest.mark.parametrize("horizon", [None, 100])
@pytest.mark.parametrize("kind", [PotentialBandit, Exp3IX])
def test_constants_that_no_policy_has_are_refused(kind, horizon, tmp_path):
    policy = kind(3, horizon=horizon, random_state=0)
    policy.run(np.full((50, 3), 0.5))
    check_files_of(policy, tmp_path / "p.json", CONSTANTS)


def test_what_only_one_policy_has_is_checked(tmp_path):
    table = [("state.estimates", np.full(3, 1e6), "the base must be near an estimate; got 0")]
    check_files_of(PotentialBandit(3, horizon=1, epsilon=0.01), tmp_path / "p.json", table)
    policy = Exp3IX(3, random_state=0)
    policy.pull()
    table = [("state.pending", [[0, 0.5, 1, [9.0]]], "gamma must lie in")]
    check_files_of(policy, tmp_path / "p.json", table)


def test_a_changed_file_is_refused(tmp_path):
    path = tmp_path / "bandit.json"
    PotentialBandit(3, horizon=10).save(path)
    with pytest.raises(DocumentError, match=r"'driftgames\.TsallisINF' was wanted"):
        TsallisINF.load(path)
    document = json.loads(path.read_text())
    document["content"]["arguments"]["n_arms"] = 4
    path.write_text(json.dumps(document))
    with pytest.raises(DocumentError, match="sha256"):
        PotentialBandit.load(path)
