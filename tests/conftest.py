"""Two Hypothesis profiles, and no clock in a test.

``driftgames`` is the default and draws the same examples on every machine. ``random`` draws
fresh ones: ``make test-random`` sets HYPOTHESIS_PROFILE to it, names the seed, and a failure
prints the ``@reproduce_failure`` line that brings the example back.
"""

import os

from hypothesis import HealthCheck, settings

NO_CLOCK = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}

settings.register_profile("driftgames", derandomize=True, print_blob=False, **NO_CLOCK)
settings.register_profile("random", derandomize=False, print_blob=True, **NO_CLOCK)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "driftgames"))
