"""A short form of ``make fuzz``: broken files are refused, or what comes of them works."""

import importlib.util
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[1] / "tools"
KINDS = (
    *("hedge-stream", "portfolio hold", "coin betting", "hedge normalhedge.dt", "task"),
    *("model that is a mean", "regressor"),
    *("table of numbers", "table in gzip", "table in parquet", "table in npy", "libsvm"),
)
CASES = 60


@pytest.fixture(scope="module")
def fuzz():
    if not Path("/proc/self/statm").exists():
        pytest.skip("it limits memory as only Linux can")
    before = sys.path[:]
    spec = importlib.util.spec_from_file_location("fuzz", TOOLS / "fuzz.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["fuzz"] = module  # for its dataclass
    spec.loader.exec_module(module)
    yield module
    sys.path[:] = before
    del sys.modules["fuzz"], sys.modules["fuzz_files"], sys.modules["fuzz_tables"]


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_no_broken_file_breaks_more_than_itself(fuzz, name, tmp_path):
    kind = fuzz.all_kinds()[name]()
    content = kind.content()
    assert fuzz.try_case(kind, content, tmp_path) == ("works", "")
    for case in range(CASES):
        broken, done = fuzz.break_file(kind, content, 0, case)
        outcome, message = fuzz.try_case(kind, broken, tmp_path)
        assert outcome != "BROKE", f"{done}: {message}"


def test_the_fuzzer_finds_what_is_broken(fuzz, tmp_path):
    kind = fuzz.all_kinds()["hedge-stream"]()

    def careless(path):
        return fuzz.json.loads(path.read_text())["content"]["learner"]["state"]["totals"]["shape"]

    careless_kind = fuzz.Kind("careless", kind.write, careless, lambda found: None)
    files = (fuzz.break_file(kind, kind.content(), 0, case)[0] for case in range(CASES))
    outcomes = [fuzz.try_case(careless_kind, broken, tmp_path) for broken in files]
    assert any(outcome == "BROKE" and "KeyError" in message for outcome, message in outcomes)


@pytest.mark.parametrize("name", ["hedge-stream", "table in gzip"])
def test_a_case_is_the_same_every_time(fuzz, name):
    kind = fuzz.all_kinds()[name]()
    content = kind.content()
    assert fuzz.break_file(kind, content, 3, 5) == fuzz.break_file(kind, content, 3, 5)
    assert fuzz.break_file(kind, content, 3, 5) != fuzz.break_file(kind, content, 3, 6)
