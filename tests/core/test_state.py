"""Everything that learns saves, loads, copies, compares and puts back through one class."""

import json

import numpy as np
import pytest

from driftgames.core.description import Describable
from driftgames.core.documents import DocumentError
from driftgames.core.state import Stateful, check_arrays, nested, restore_nested, same


class Gauge(Describable):
    _argument_names = ("unit",)

    def __init__(self, unit=1.0):
        self.unit = unit


class Counter(Stateful):
    """Adds up what it is told; an argument of each kind, and a state of each kind."""

    VERSION = 7

    def __init__(self, n, *, gauge=None, weights=None):
        self.n, self.gauge, self.weights = n, gauge or Gauge(), weights
        self.totals, self.seen, self.notes = np.zeros(n), 0, []

    def _arguments(self):
        return {"n": self.n, "gauge": self.gauge, "weights": self.weights}

    def _get_state(self):
        return {"totals": self.totals, "seen": self.seen, "notes": self.notes}

    def _set_state(self, state):
        check_arrays(state, self._get_state())
        if state["seen"] < 0:
            raise ValueError(f"seen must be nonnegative; got {state['seen']}")
        self.totals, self.seen, self.notes = state["totals"], state["seen"], state["notes"]

    def add(self, values, note=""):
        with self._all_or_nothing():
            for i, value in enumerate(values):
                self.totals[i] += value
                self.notes.append(note)
            self.seen += 1


class Other(Counter):
    pass


@pytest.fixture
def counter():
    made = Counter(3, weights=np.array([0.1, 0.2, 0.7]))
    made.add([1.0, 0.1 + 0.2, 3.0], note="ü")
    return made


def test_a_loaded_object_goes_on_to_the_same_bits(counter, tmp_path):
    counter.save(tmp_path / "c.json")
    loaded = Counter.load(tmp_path / "c.json")
    assert loaded.totals.tobytes() == counter.totals.tobytes()
    assert (loaded.seen, loaded.notes, loaded.gauge.unit) == (1, ["ü"] * 3, 1.0)
    assert loaded.weights.tolist() == counter.weights.tolist()


def test_an_error_in_the_middle_puts_the_state_back(counter):
    before = counter.copy()
    with pytest.raises(IndexError):
        counter.add([1.0, 2.0, 3.0, 4.0])
    assert counter.totals.tolist() == before.totals.tolist()
    assert (counter.seen, counter.notes) == (before.seen, before.notes)


def test_a_copy_is_independent(counter):
    copied = counter.copy()
    counter.add([1.0])
    assert copied.seen == 1
    assert copied.totals[0] == 1.0


def test_equality_is_of_class_arguments_and_state(counter):
    gauge = counter.gauge
    same_again = Counter(3, gauge=gauge, weights=counter.weights.copy())
    assert same_again != counter
    same_again.add([1.0, 0.1 + 0.2, 3.0], note="ü")
    assert same_again == counter
    assert Counter(3, gauge=gauge) != Counter(4, gauge=gauge)
    assert Other(3, gauge=gauge) != Counter(3, gauge=gauge)
    with pytest.raises(TypeError, match="unhashable"):
        hash(counter)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seen": -1}, "seen must be nonnegative; got -1"),
        ({"totals": [1.0]}, r"totals must be float64\[3\]; got list\[1\]"),
        ({"more": 1}, "the state must be notes, seen, totals; got more, notes, seen, totals"),
    ],
)
def test_a_state_that_does_not_fit_is_named(counter, change, message):
    content = counter.content()
    content["state"] |= change
    with pytest.raises(DocumentError, match=f"not a whole Counter: {message}"):
        Counter.from_content(content)


def test_infinite_arrays_are_refused(counter):
    counter.totals[1] = np.inf
    with pytest.raises(DocumentError, match="totals must be finite"):
        Counter.from_content(counter.content())


def test_only_what_a_file_cannot_hold_is_given_again(counter, tmp_path):
    path = tmp_path / "c.json"
    held = Counter(2, gauge=Gauge(unit=len))  # a function
    held.save(path)
    with pytest.raises(DocumentError, match=r"Gauge, which a file cannot hold; give it as gauge="):
        Counter.load(path)
    assert Counter.load(path, gauge=Gauge(unit=len)).gauge.unit is len
    with pytest.raises(DocumentError, match="it was made with gauge"):
        Counter.load(path, gauge=Gauge(unit=2.0))
    with pytest.raises(DocumentError, match="it was made with n = 2; given is 3"):
        Counter.load(path, n=3)
    with pytest.raises(DocumentError, match="only what a file cannot hold is given again; got x"):
        Counter.load(path, gauge=Gauge(unit=len), x=1)


def test_another_class_and_another_version_are_refused(counter, tmp_path):
    path = tmp_path / "c.json"
    counter.save(path)
    with pytest.raises(DocumentError, match=r"holds a 'driftgames\.Counter'"):
        Other.load(path)
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, "version": 6}))
    with pytest.raises(DocumentError, match=r"version 6 is older than this driftgames reads \(7\)"):
        Counter.load(path)


def test_an_object_may_be_a_part_of_another_document(counter):
    assert restore_nested(nested(counter), Counter).totals.tolist() == counter.totals.tolist()
    with pytest.raises(DocumentError, match="there is no Other 'Counter'"):
        restore_nested(nested(counter), Other)
    with pytest.raises(DocumentError, match="it has no 'kind'"):
        restore_nested({}, Counter)


def test_states_are_compared_entry_by_entry():
    x = {"a": [1, np.array([1.0, 2.0])], "b": None}
    assert same(x, {"a": (1, np.array([1.0, 2.0])), "b": None})
    assert not same(x, {"a": [1, np.array([1.0, 2.5])], "b": None})
    assert not same(x, {"a": [1], "b": None})
    assert not same(x, {"a": [1, np.array([1.0, 2.0])]})
    assert not same(np.zeros(2), 0.0)


def test_two_gauges_of_the_same_arguments_make_equal_counters():
    assert Counter(2, gauge=Gauge(np.array([1.0, 2.0]))) == Counter(
        2, gauge=Gauge(np.array([1, 2.0]))
    )
    assert Counter(2, gauge=Gauge(2.0)) != Counter(2, gauge=Gauge(3.0))


def test_what_is_given_must_be_describable(tmp_path):
    Counter(2, gauge=Gauge(unit=len)).save(tmp_path / "c.json")
    with pytest.raises(DocumentError, match=r"it was made with gauge = .*; given is 5"):
        Counter.load(tmp_path / "c.json", gauge=5)


def test_nesting_without_end_is_a_document_error(counter):
    content = counter.content()
    deep = []
    for _ in range(100_000):
        deep = [deep]
    content["state"]["notes"] = deep
    with pytest.raises(DocumentError, match="not a whole Counter"):
        Counter.from_content(content)
