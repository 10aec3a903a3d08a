"""Attributes that are computed once, and never behind a lock."""

import os
import threading

import pytest

from driftgames.core.caching import cached_property


class Slow:
    def __init__(self):
        self.begun, self.goes_on = threading.Event(), threading.Event()

    @cached_property
    def value(self):
        self.begun.set()
        self.goes_on.wait()
        return 1

    @cached_property
    def other(self):
        """Known."""
        return 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_fork_while_a_value_is_computed_can_compute_others():
    slow = Slow()
    thread = threading.Thread(target=lambda: slow.value)
    thread.start()
    slow.begun.wait()
    child = os.fork()
    if child == 0:  # with a lock that the other thread holds, this would wait for ever
        os._exit(slow.other + Slow().other)
    slow.goes_on.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 4
    assert slow.value == 1


def test_the_class_has_the_documentation():
    assert Slow.other.__doc__ == "Known."
