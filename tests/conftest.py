"""One Hypothesis profile: the same examples on every machine, and no clock in a test."""

from hypothesis import settings

settings.register_profile("driftgames", deadline=None, derandomize=True, print_blob=False)
settings.load_profile("driftgames")
