"""Certificates: what a run achieved beside what the theorems promise of it.

`regret` measures a run, `bounds` states what is promised, and a `Certificate` holds the two
side by side.
"""

from driftgames.certificates.certificate import Certificate, CoverageCertificate
from driftgames.certificates.interval_regret import IntervalCertificate
from driftgames.certificates.regret import RegretCurve, epsilon_regret, regret_curve
from driftgames.certificates.regret_certificate import RegretCertificate

__all__ = [
    "Certificate",
    "CoverageCertificate",
    "IntervalCertificate",
    "RegretCertificate",
    "RegretCurve",
    "epsilon_regret",
    "regret_curve",
]
