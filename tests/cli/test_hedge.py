"""``driftgames hedge``: files, streams, and states that survive kill -9."""

import bz2
import gzip
import lzma
import tempfile
import threading

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
import typer
from pyarrow import feather
from typer.testing import CliRunner

from driftgames.cli import hedge as module
from driftgames.cli._hedge_report import MOST, KeptMoments, draw
from driftgames.cli._hedge_stream import StreamState, chain
from driftgames.core.documents import DocumentError
from driftgames.hedge import LEARNERS, AdaNormalHedge, Hedge
from driftgames.hedge.named_learners import make_learner

APP = typer.Typer()
APP.command()(module.hedge)

COMMAND = "import typer; from driftgames.cli.hedge import hedge; typer.run(hedge)"
NAMES = ("cash", "bonds", "gold")


@pytest.fixture(autouse=True)
def narrow(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


def make_losses(rounds=60, n=3, seed=0):
    return np.random.default_rng(seed).random((rounds, n)).round(4)


def as_lines(losses, names=NAMES):
    header = [",".join(names)] if names else []
    return [f"{line}\n" for line in header + [",".join(map(repr, row)) for row in losses.tolist()]]


def write_csv(path, losses, names=NAMES):
    path.write_text("".join(as_lines(losses, names)))
    return str(path)


def run(*arguments, text=None):
    return CliRunner().invoke(APP, [str(argument) for argument in arguments], input=text)


def played(losses, **settings):
    learner = Hedge(losses.shape[1], **settings)
    learner.run(losses)
    return learner


def test_summary_says_what_happened(tmp_path):
    losses = make_losses()
    learner = played(losses, names=NAMES)
    result = run(write_csv(tmp_path / "l.csv", losses), "--epsilon", "0.5,1")
    assert result.exit_code == 0, result.stderr
    words = result.stdout.split()
    best = int(learner.action_losses.argmin())
    assert "NormalHedge.DT: 60 rounds, 3 actions" in result.stdout
    assert f"{learner.learner_loss:.4f}" in words
    assert f"best action     {NAMES[best]}, loss {learner.action_losses[best]:.4f}" in result.stdout
    for name, p in zip(NAMES, learner.distribution(), strict=True):
        line = next(each for each in result.stdout.splitlines() if each.split()[:1] == [name])
        assert line.split()[1] == f"{p:.4f}"
    for epsilon in (0.5, 1.0):
        row = learner.certificate().at(epsilon)
        assert f"{row.realised:.3f}" in words
        assert f"{row.promised:.3f}" in words
    assert "every bound holds" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_every_kind_of_file_gives_the_same(tmp_path):
    losses = make_losses()
    expected = run(write_csv(tmp_path / "l.csv", losses, names=None)).stdout
    assert "column 1" in expected
    np.save(tmp_path / "l.npy", losses)
    assert run(tmp_path / "l.npy").stdout == expected
    with gzip.open(tmp_path / "l.csv.gz", "wt") as stream:
        stream.writelines(as_lines(losses, names=None))
    assert run(tmp_path / "l.csv.gz").stdout == expected
    assert run("-", text="".join(as_lines(losses, names=None))).stdout == expected
    table = pa.table({name: losses[:, i] for i, name in enumerate(NAMES)})
    pyarrow.parquet.write_table(table, tmp_path / "l.parquet", row_group_size=7)
    named = run(write_csv(tmp_path / "named.csv", losses)).stdout
    assert "gold" in named
    assert run(tmp_path / "l.parquet").stdout == named
    feather.write_feather(table, tmp_path / "l.arrow")
    assert run(tmp_path / "l.arrow").stdout == named
    text = "".join(as_lines(losses))
    assert run("-", text=text.replace(",", "\t")).stdout == named
    assert run("-", text=text.replace(",", ";").replace(".", ",")).stdout == named
    assert run("-", "--sep", "|", text=text.replace(",", "|")).stdout == named
    assert "--sep must be one character" in run("-", "--sep", "||", text=text).stderr
    for part in (0, 1):
        write_csv(tmp_path / f"part{part}.csv", losses[30 * part : 30 * part + 30])
    assert run(tmp_path / "part*.csv").stdout == named


def test_options_reach_the_learner(tmp_path):
    gains = 10 * make_losses() - 5
    path = write_csv(tmp_path / "g.csv", gains)
    result = run(
        path, "--gains", "--loss-range", "-5,5", "--prior", "0.5,0.25,0.25",
        "--algorithm", "adanormalhedge", "--top", "1",
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    learner = AdaNormalHedge(3, prior=[0.5, 0.25, 0.25], loss_range=(-5, 5), gains=True)
    learner.run(gains)
    assert "AdaNormalHedge: 60 rounds" in result.stdout
    assert f"learner's gain  {-learner.learner_loss:.4f}" in result.stdout
    assert f"{learner.distribution().max():.4f}" in result.stdout
    assert "the other 2" in result.stdout


def test_algorithms_are_those_of_the_library(tmp_path):
    path = write_csv(tmp_path / "l.csv", make_losses(20))
    shown = "".join(each for each in run("--help").stdout if each.isalnum() or each in "-,.")
    assert ",".join(LEARNERS) in shown
    for name in LEARNERS:
        result = run(path, "--algorithm", name, "--horizon", 20)
        assert result.exit_code == 0, result.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n0.5,0.5\n0.5,high\n", "line 3, column 2 (b): a loss must be a number; got 'high'"),
        ("0.5,0.5\n\n0.5,\n", "line 3, column 2: a loss must be a number; got ''"),
        ("0.5,oops\n", "line 1, column 2: a loss must be a number; got 'oops'"),
        ("a,b\n0.5,0.5\n0.5\n", "line 3: 1 cells, where 2 were expected"),
        ("a,b\n0.5,0.5,0.5\n", "line 2: 3 cells, where 2 were expected"),
        ("a,b\n0.5,nan\n", "line 2, column 2 (b): a loss must be finite; got nan"),
        ("a,b\n0.5,1_0\n", "line 2, column 2 (b): a loss must be a number; got '1_0'"),
        ("a,b\n0.5,1.5\n", "line 2, column 2 (b): losses must lie in [0, 1] (see --loss-range)"),
        ("a,a\n0.5,0.5\n", "line 1: the header names 'a' twice"),
        ("a,b\n", "no losses came: the input has a header and no rounds"),
        ("", "l.csv: the input is empty"),
        ("a,b\n0.5,\xff\n", "line 2: is not UTF-8 text"),
        (f"a,{'b' * 140_000}\n0.5,0.5\n", "line 1: field larger than field limit"),
    ],
)
def test_bad_cells_are_named_by_line_and_column(tmp_path, text, message):
    path = tmp_path / "l.csv"
    path.write_bytes(text.encode("latin-1"))
    state = tmp_path / "s.json"
    result = run(path, "--state", state)
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1].startswith("error: ")
    assert result.stderr.count("error: ") == 1
    assert message in result.stderr
    assert not state.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--loss-range", "0"], "--loss-range must be two numbers"),
        (["--loss-range", "1,0"], "low < high"),
        (["--epsilon", "0.1,x"], "--epsilon must be numbers with commas between; got '0.1,x'"),
        (["--epsilon", "0"], "--epsilon must lie in (0, 1]; got 0.0"),
        (["--prior", "0.5,0.5"], "prior must be of shape (3,)"),
        (["--algorithm", "oracle"], "learner must be one of normalhedge.dt"),
        (["--algorithm", "exp"], "exp is tuned to the number of rounds: give it as --horizon"),
        (["--first-round", "0"], "--first-round must be next or a number from 1; got '0'"),
        (["--plot", "out.gif"], "--plot must end in .svg, .pdf or .png; got 'out.gif'"),
        (["--plot", "no/such/out.svg"], "--plot: there is no directory no/such"),
        (["--state", "no/such/s.json"], "--state: there is no directory no/such"),
    ],
)
def test_senseless_options_are_refused(tmp_path, arguments, message):
    result = run(write_csv(tmp_path / "l.csv", make_losses(5)), *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_files_that_hold_no_losses_are_refused(tmp_path):
    for name, array in (
        ("flat", np.zeros(3)),
        ("words", np.array([["a"]])),
        ("none", np.ones((0, 2))),
    ):
        np.save(tmp_path / f"{name}.npy", array)
        result = run(tmp_path / f"{name}.npy")
        assert result.exit_code == 2
        assert "a table must be numbers, in rows and columns" in result.stderr
    pyarrow.parquet.write_table(pa.table({"a": [0.5], "b": ["x"]}), tmp_path / "w.parquet")
    assert "column 2 (b): a loss must be a number; got 'x'" in run(tmp_path / "w.parquet").stderr
    pyarrow.parquet.write_table(pa.table({"a": [0.5, None]}), tmp_path / "n.parquet")
    assert "row 2, column 1 (a): a loss must be finite" in run(tmp_path / "n.parquet").stderr
    (tmp_path / "cut.parquet").write_bytes(b"PAR1")
    assert "not a Parquet file, or cut short" in run(tmp_path / "cut.parquet").stderr
    missing = run(tmp_path / "missing.csv")
    assert missing.exit_code == 2
    assert "missing.csv: No such file" in missing.stderr


LINES = b"0.5,0.5\n" * 100
DAMAGED = {
    "cut.csv.gz": gzip.compress(LINES)[:-12],
    "cut.csv.xz": lzma.compress(LINES)[:-12],
    "cut.csv.bz2": bz2.compress(LINES)[:-12],
    "damaged.csv.gz": gzip.compress(LINES)[:20] + bytes(100),
    "empty.npy": b"",
    "plain.npy": LINES,
    "zip.npy": b"PK\x03\x04" + LINES,
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_is_named_in_one_line(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(DAMAGED[name])
    result = run(path)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: {path}: cannot be read")
    assert result.stderr.count("error: ") == 1


def test_the_content_says_whether_a_file_is_compressed(tmp_path):
    for name, content in (("plain.csv.gz", LINES), ("packed.csv", gzip.compress(LINES))):
        (tmp_path / name).write_bytes(content)
        assert "100 rounds, 2 actions" in run(tmp_path / name).stdout


def test_names_are_shown_as_they_are(tmp_path):
    names = ("b [/x]", "price [usd]", ":+1:")
    result = run(write_csv(tmp_path / "l.csv", make_losses(), names=names))
    assert result.exit_code == 0, result.exception
    for name in names:
        assert any(line.strip().startswith(name) for line in result.stdout.splitlines())


def test_numbers_may_be_names_when_said_so(tmp_path):
    path = write_csv(tmp_path / "l.csv", make_losses(5), names=("2021", "2022", "2023"))
    assert "2022" in run(path, "--header").stdout
    assert "line 1, column 1: losses must lie in [0, 1]" in run(path).stderr


def test_plot_is_written(tmp_path):
    out = tmp_path / "out.svg"
    result = run(write_csv(tmp_path / "l.csv", make_losses()), "--plot", out)
    assert result.exit_code == 0, (result.stderr, result.exception)
    assert out.stat().st_size > 1000


def test_history_thins_out_and_changes_nothing():
    losses = make_losses(5 * MOST + 3)
    history, learner = KeptMoments(), Hedge(3)
    for begin in range(0, len(losses), 100):
        history.run(learner, losses[begin : begin + 100])
    whole = Hedge(3).run(losses)
    assert learner.t == len(losses)
    assert learner.learner_loss == pytest.approx(whole.learner_losses.sum())
    assert MOST / 2 <= len(history.rounds) <= MOST
    assert set(np.diff(history.rounds)) == {8}
    at = np.array(history.rounds[1:])
    assert history.regret[1:] == pytest.approx(whole.regret_over_time[at - 1], abs=1e-9)


def test_live_stream_answers_every_line_with_the_next_distribution():
    losses = make_losses(3)
    lines = run("-", "--live", text="".join(as_lines(losses))).stdout.splitlines()
    learner = Hedge(3)
    for t in range(3):
        learner.update(losses[t])
        number, loss, p = lines[t].split()
        assert number == f"round={t + 1}"
        assert loss == f"learner_loss={learner.learner_loss!r}"
        assert [
            float(x) for x in p.removeprefix("p=").split(",")
        ] == learner.distribution().tolist()


# ---------------------------------------------------------------- states


def test_a_state_goes_on_and_gives_what_one_run_gives(tmp_path):
    losses, state = make_losses(), tmp_path / "s.json"
    run(write_csv(tmp_path / "head.csv", losses[:25]), "--state", state)
    whole = write_csv(tmp_path / "whole.csv", losses)
    result = run(whole, "--state", state)
    assert result.stdout == run(whole).stdout
    assert StreamState.load(state).learner == played(losses, names=NAMES)
    # the same input once more has nothing new
    assert run(whole, "--state", state).stdout == result.stdout
    assert StreamState.load(state).learner.t == 60


def test_first_round_next_takes_every_line_as_new(tmp_path):
    losses, state = make_losses(), tmp_path / "s.json"
    run(write_csv(tmp_path / "head.csv", losses[:25]), "--state", state)
    tail = write_csv(tmp_path / "tail.csv", losses[25:], names=None)
    assert run(tail, "--state", state, "--first-round", "next").exit_code == 0
    assert StreamState.load(state).learner == played(losses, names=NAMES)


def test_rounds_that_come_again_are_not_counted_twice_and_a_gap_is_refused(tmp_path):
    losses, state = make_losses(), tmp_path / "s.json"
    run(write_csv(tmp_path / "head.csv", losses[:25]), "--state", state)
    before = state.read_bytes()
    late = write_csv(tmp_path / "late.csv", losses[30:])
    result = run(late, "--state", state, "--first-round", 31)
    assert result.exit_code == 2
    assert "rounds 26 to 30 would be lost" in result.stderr
    assert state.read_bytes() == before
    overlapping = write_csv(tmp_path / "overlap.csv", losses[20:])
    assert run(overlapping, "--state", state, "--first-round", 21).exit_code == 0
    assert StreamState.load(state).learner == played(losses, names=NAMES)


def test_another_input_is_not_taken_for_the_same(tmp_path):
    losses, state = make_losses(), tmp_path / "s.json"
    run(write_csv(tmp_path / "head.csv", losses[:25]), "--state", state)
    before = state.read_bytes()
    tail = run(write_csv(tmp_path / "tail.csv", losses[25:]), "--state", state)
    assert tail.exit_code == 2
    assert "the first 25 rounds of the input are not those of the state" in tail.stderr
    assert "--first-round next" in tail.stderr
    short = run(write_csv(tmp_path / "short.csv", losses[:10]), "--state", state)
    assert short.exit_code == 2
    assert "the input ends with round 10 and the state has 25" in short.stderr
    assert state.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--algorithm", "squint"], "--algorithm is squint, but the state was kept with"),
        (["--loss-range", "0,2"], "--loss-range is (0.0, 2.0), but the state"),
        (["--gains"], "--gains is True, but the state was kept with False"),
        (["--prior", "0.5,0.25,0.25"], "--prior is [0.5, 0.25, 0.25], but the state"),
    ],
)
def test_a_state_of_another_learner_is_refused(tmp_path, arguments, message):
    state, path = tmp_path / "s.json", write_csv(tmp_path / "l.csv", make_losses())
    run(path, "--state", state)
    result = run(path, "--state", state, *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_state_tuned_to_another_horizon_is_refused(tmp_path):
    state, path = tmp_path / "s.json", write_csv(tmp_path / "l.csv", make_losses())
    tuned = (path, "--state", state, "--algorithm", "exp", "--horizon")
    assert run(*tuned, 200).exit_code == 0
    assert run(*tuned, 200).exit_code == 0
    result = run(*tuned, 999999)
    assert result.exit_code == 2
    assert "--horizon is 999999, but the state was kept with 200" in result.stderr


def test_a_state_of_other_actions_or_none_at_all_is_refused(tmp_path):
    state, path = tmp_path / "s.json", write_csv(tmp_path / "l.csv", make_losses())
    run(path, "--state", state)
    other = write_csv(tmp_path / "o.csv", make_losses(), names=("x", "y", "z"))
    assert "the header is ('x', 'y', 'z')" in run(other, "--state", state).stderr
    wide = write_csv(tmp_path / "w.csv", make_losses(n=2), names=None)
    assert "the number of actions is 2, but the state" in run(wide, "--state", state).stderr
    state.write_bytes(state.read_bytes()[:-30])
    assert "cut short" in run(path, "--state", state).stderr
    Hedge(3).save(state)
    assert "where 'driftgames.hedge-stream' was wanted" in run(path, "--state", state).stderr


def test_a_bad_line_in_a_stream_keeps_what_was_acknowledged(tmp_path):
    losses, state = make_losses(10), tmp_path / "s.json"
    lines = as_lines(losses)
    result = run("-", "--state", state, text="".join([*lines[:6], "0.5,oops,0.5\n", *lines[6:]]))
    assert result.exit_code == 2
    assert "line 7, column 2 (bonds)" in result.stderr
    assert result.stdout.splitlines()[-1].startswith("round=5 ")
    assert StreamState.load(state).learner == played(losses[:5], names=NAMES)


def test_rounds_are_not_acknowledged_before_they_are_written(tmp_path, monkeypatch):
    save, calls = StreamState.save, []

    def fill_the_disk(self, path):
        calls.append(path)
        if len(calls) == 3:
            raise OSError(28, "No space left on device", str(path))
        save(self, path)

    monkeypatch.setattr(StreamState, "save", fill_the_disk)
    losses, state = make_losses(10), tmp_path / "s.json"
    result = run("-", "--state", state, "--every", 2, text="".join(as_lines(losses)))
    assert result.exit_code == 2
    assert "No space left on device" in result.stderr
    assert [line.split()[0] for line in result.stdout.splitlines()] == ["round=2", "round=4"]
    assert StreamState.load(state).learner == played(losses[:4], names=NAMES)


def test_a_last_line_without_an_end_is_not_counted(tmp_path):
    losses, state = make_losses(10), tmp_path / "s.json"
    text = "".join(as_lines(losses))
    cut = run("-", "--state", state, text=text[:-3])
    assert "the last line has no end and was not counted" in cut.stderr
    assert StreamState.load(state).learner == played(losses[:9], names=NAMES)
    assert run("-", "--state", state, text=text).exit_code == 0
    assert StreamState.load(state).learner == played(losses, names=NAMES)


def test_a_process_that_finds_anothers_write_stops(tmp_path):
    path = tmp_path / "s.json"
    ours = StreamState("normalhedge.dt", Hedge(3))
    ours.save(path)
    theirs = StreamState.load(path)
    theirs.learner.run(make_losses(2))
    theirs.save(path)
    with pytest.raises(DocumentError, match="another process has written to it"):
        ours.save(path)
    assert StreamState.load(path).learner.t == 2
    with pytest.raises(DocumentError, match="another process has written to it"):
        StreamState("normalhedge.dt", Hedge(3)).save(path)


def test_an_action_that_the_prior_leaves_out_is_not_the_best(tmp_path):
    path = write_csv(tmp_path / "l.csv", np.tile([0.0, 0.5, 0.9], (4, 1)))
    result = run(path, "--prior", "0,0.5,0.5", "--plot", tmp_path / "p.svg")
    learner = Hedge(3, prior=[0, 0.5, 0.5])
    learner.run(np.tile([0.0, 0.5, 0.9], (4, 1)))
    assert f"best action     {NAMES[1]}, loss 2.0000" in result.stdout
    assert f"regret          {learner.learner_loss - 2.0:.4f}" in result.stdout


def test_an_index_and_dates_are_left_out_of_files_and_streams(tmp_path):
    losses, path = make_losses(), tmp_path / "index.csv"
    plain = run(write_csv(tmp_path / "plain.csv", losses))
    lines = [line.strip() for line in as_lines(losses)]
    days = ["date", *(f"2020-{1 + t // 28:02}-{1 + t % 28:02}" for t in range(60))]
    days[3] = "nan"  # a missing date
    rows = [f"{i},{days[i]},{line}\n" for i, line in enumerate(lines)]
    text = "".join([rows[0][1:], *rows[1:]])
    path.write_text(text)
    for source in (path, "-"):
        result = run(source, text=text)
        assert result.stdout == plain.stdout, result.output
        assert result.stderr.endswith("read as dates, and left out: date\n")
    state = tmp_path / "s.json"
    assert run("-", "--state", state, text=text).stdout.endswith(plain.stdout)
    assert StreamState.load(state).learner == played(losses, names=NAMES)


def test_a_folder_is_no_plot(tmp_path):
    (tmp_path / "d.svg").mkdir()
    result = run(write_csv(tmp_path / "l.csv", make_losses()), "--plot", tmp_path / "d.svg")
    assert f"--plot: {tmp_path / 'd.svg'} is a directory" in result.stderr


def test_a_state_and_a_plot_are_two_files(tmp_path):
    path = write_csv(tmp_path / "l.csv", make_losses())
    result = run(path, "--state", tmp_path / "x.svg", "--plot", tmp_path / "x.svg")
    assert result.exit_code == 2
    assert "--plot and --state are the same file" in result.stderr
    assert not (tmp_path / "x.svg").exists()


def test_the_digest_does_not_depend_on_batches():
    losses = make_losses()
    start = chain(b"", losses)
    assert chain(chain(b"", losses[:7]), losses[7:]) == start
    changed = losses.copy()
    changed[3, 1] += 1e-9
    assert chain(b"", changed) != start


# ---------------------------------------------------------------- kill -9


PREPARED = """
import typer, driftgames.cli._hedge_report, driftgames.cli._hedge_stream, driftgames.cli.hedge
from driftgames.hedge import Hedge
Hedge(3).update([0.0, 0.5, 1.0])  # loads the compiled code
"""


@pytest.fixture
def begin(fork_server):
    """Start streams, and end those that a failing test leaves waiting."""
    begun = []
    watchdog = threading.Timer(120, lambda: [each.kill() for each in begun])
    watchdog.start()

    def start(state, *arguments):
        arguments = ("-", "--state", state, *arguments)
        begun.append(fork_server.start(COMMAND, *arguments, before=PREPARED))
        return begun[-1]

    yield start
    watchdog.cancel()
    for each in begun:
        each.kill()


def acknowledged(process):
    line = process.stdout.readline()
    assert line.startswith("round="), line
    return int(line.split()[0].removeprefix("round="))


def test_a_reader_that_leaves_ends_the_stream_without_a_word(fork_server):
    with tempfile.TemporaryFile("w+") as errors:
        process = fork_server.start(COMMAND, "-", "--live", before=PREPARED, stderr=errors)
        process.stdin.write("".join(as_lines(make_losses(1000))))
        process.stdin.flush()
        assert process.stdout.readline().startswith("round=1 ")
        process.stdout.close()
        assert process.wait() == 1
        errors.seek(0)
        assert errors.read() == ""


def test_killed_streams_of_the_whole_input_lose_nothing_and_count_nothing_twice(tmp_path, begin):
    losses, state = make_losses(400), tmp_path / "s.json"
    last = 0
    for kill_after in (1, 40):
        process = begin(state)
        process.stdin.write("".join(as_lines(losses[:-100])))  # the stream is not at its end
        process.stdin.flush()
        while last < kill_after:
            last = acknowledged(process)
        process.kill()
        kept = StreamState.load(state).learner
        assert last <= kept.t < 400  # killed in the middle, and nothing acknowledged is lost
        assert kept == played(losses[: kept.t], names=NAMES)
    result = run("-", "--state", state, "--every", "50", text="".join(as_lines(losses)))
    assert result.exit_code == 0
    assert StreamState.load(state).learner == played(losses, names=NAMES)
    assert "400 rounds, 3 actions" in result.stdout


def test_killed_streams_that_go_on_lose_nothing_and_count_nothing_twice(tmp_path, begin):
    losses, state = make_losses(400), tmp_path / "s.json"
    counted = 0
    for kill_after in (5, 60):
        process = begin(state, "--first-round", "next")
        if state.exists():
            counted = acknowledged(process)  # what it says before it is sent anything
        lines = as_lines(losses[counted:-100], names=NAMES if counted == 0 else None)
        process.stdin.write("".join(lines))
        process.stdin.flush()
        while counted < kill_after:
            counted = acknowledged(process)
        process.kill()
    # the sender believes the last acknowledgement, and sends what came after it again
    text = "".join(as_lines(losses[counted:], names=None))
    going_on = ("--first-round", str(counted + 1), "--every", "100")
    result = run("-", "--state", state, *going_on, text=text)
    assert result.exit_code == 0
    assert StreamState.load(state).learner == played(losses, names=NAMES)
    assert "400 rounds, 3 actions" in result.stdout


def test_a_line_without_an_end_is_refused_before_it_is_read_whole(tmp_path, monkeypatch):
    monkeypatch.setenv("DRIFTGAMES_MOST_BYTES", "1600")
    path = tmp_path / "losses.csv.xz"
    path.write_bytes(lzma.compress(b"0.5,0.5\n" + b"0" * 5000))
    result = run(path)
    assert result.exit_code == 2
    assert "losses.csv.xz: line 2 has more than 100 bytes" in result.output
    assert run("-", text="0" * 5000).exit_code == 2


@pytest.mark.parametrize("header", [b"(" * 60, b"\xff" * 60, b"{'descr': '<f8'}", b""])
def test_a_broken_npy_header_is_one_clear_line(tmp_path, header):
    path = tmp_path / "losses.npy"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    result = run(path)
    assert result.exit_code == 2
    assert "losses.npy: cannot be read" in result.output


def test_escape_sequences_in_names_are_shown_and_not_sent_to_the_terminal(tmp_path):
    names = ("plain", "red\x1b[31m", "turned\u202e")
    result = run(write_csv(tmp_path / "l.csv", make_losses(), names))
    assert result.exit_code == 0
    assert "\x1b" not in result.output
    assert "\u202e" not in result.output
    assert r"red\x1b[31m" in result.output
    result = run(write_csv(tmp_path / "l.csv", make_losses(), ("a", "b\x1b[2J", "b\x1b[2J")))
    assert result.exit_code == 2
    assert "\x1b" not in result.output
    result = run(tmp_path / "no\x1b[2J.csv")
    assert "\x1b" not in result.output
    assert r"no\x1b[2J.csv: No such file" in result.output


@pytest.mark.parametrize("name", ["squint", "adahedge", "normalhedge.dt"])
def test_both_panels_of_regret_show_the_same_bound(name, tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr("driftgames.plots.save_figure", lambda figure, path: drawn.append(figure))
    learner, history = make_learner(name, 4), KeptMoments()
    history.run(learner, np.random.default_rng(0).random((700, 4)) ** [1, 2, 3, 4])
    draw(learner, history, tmp_path / "h.png")
    over_time, _, over_epsilon = drawn[0].axes
    ends = [
        {line.get_label(): line.get_ydata()[at] for line in ax.get_lines()}
        for ax, at in ((over_time, -1), (over_epsilon, 0))
    ]
    assert list(ends[0]) == [learner.title, f"{learner.title}, bound"]
    assert ends[0] == pytest.approx(ends[1])
    assert all(ax.get_title(loc="left") for ax in drawn[0].axes)
