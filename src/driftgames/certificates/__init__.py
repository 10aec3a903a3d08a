"""Certificates: what a run achieved beside what the theorems promise of it.

`regret` measures a run, `bounds` states what is promised, and a `Certificate` holds the two
side by side. `betting` and `mean_intervals` bound a mean that is not known, `new_examples` the
error of a booster on examples that it has not seen, `new_log_loss` its log-loss, and `new_numbers`
the scores of a regressor; `numbers_held_out` is its certificate.
"""

from driftgames.certificates.betting import ConfidenceRun, ConfidenceSequence, confidence_sequence
from driftgames.certificates.certificate import Certificate, CoverageCertificate
from driftgames.certificates.interval_regret import IntervalCertificate
from driftgames.certificates.mean_intervals import MeanInterval, coin_interval, mean_interval
from driftgames.certificates.new_examples import NewExamples
from driftgames.certificates.new_log_loss import NewLogLoss
from driftgames.certificates.new_numbers import NewNumbers
from driftgames.certificates.numbers_held_out import NumberCertificate
from driftgames.certificates.regret import RegretCurve, epsilon_regret, regret_curve
from driftgames.certificates.regret_certificate import RegretCertificate

__all__ = [
    "Certificate",
    "ConfidenceRun",
    "ConfidenceSequence",
    "CoverageCertificate",
    "IntervalCertificate",
    "MeanInterval",
    "NewExamples",
    "NewLogLoss",
    "NewNumbers",
    "NumberCertificate",
    "RegretCertificate",
    "RegretCurve",
    "coin_interval",
    "confidence_sequence",
    "epsilon_regret",
    "mean_interval",
    "regret_curve",
]
