"""The rule of the race in plain Python, with exact fractions: a reference for tests."""

from fractions import Fraction
from typing import NamedTuple


class Outcome(NamedTuple):
    """How a race ends: the chosen size and rounds, the second size, and the table of trials.

    It is on the ``edge`` if a comparison with a standard error was a tie: floats may see it either
    way.
    """

    chosen: tuple
    runner_up: int | None
    trials: list
    edge: bool = False


def scout_by_rule(tables, stages, masses, first, most=3):
    """Play a scouted race: the examples of the fold ``first`` alone, then all of them.

    Return the outcome on these examples, and the chosen size and its rounds with a trial of each
    size that goes on: (size, stage, mean).
    """
    few = {
        size: {stage: [row[i] for i in first] for stage, row in table.items()}
        for size, table in tables.items()
    }
    scouted = run_by_rule(few, stages, [masses[i] for i in first])
    best = {}
    for size, stage, value, *_ in scouted.trials:
        if size not in best or value < best[size][0]:
            best[size] = value, stage
    kept = sorted(best, key=lambda size: (best[size][0], size))[:most]
    trials = []
    for size in sorted(kept):
        stage = best[size][1]
        trials.append((size, stage, mean([*map(Fraction, tables[size][stage])], masses)))
    chosen = min(trials, key=lambda trial: (trial[2], trial[0]))[:2]
    return scouted, chosen, trials


def mean(values, masses):
    return sum(m * v for m, v in zip(masses, values, strict=True)) / Fraction(sum(masses))


def run_by_rule(tables, stages, masses, *, many=False, most=None):
    """Play a race; ``tables[size][stage]`` are the log-losses of the examples held out.

    Of ``many`` examples one flat stage does not end a size, and ``most[size]`` is its last stage. A
    trial is (size, stage, mean, squared standard error of its difference from the chosen, word).
    """
    exact = {s: {k: [*map(Fraction, row)] for k, row in t.items()} for s, t in tables.items()}
    seen = {size: [] for size in tables}  # the stages that each size has played
    dropped, ended, edge = set(), set(), False

    def value(size, stage):
        return mean(exact[size][stage], masses)

    def difference(one, other):
        more = [
            a - b for a, b in zip(exact[one[0]][one[1]], exact[other[0]][other[1]], strict=True)
        ]
        away = mean(more, masses)
        return away, mean([(m - away) ** 2 for m in more], masses) / len(more)

    def best_trial():
        return min((value(size, stage), size, stage) for size in tables for stage in seen[size])[1:]

    for at, stage in enumerate(stages):
        running = [size for size in tables if size not in dropped | ended]
        for size in running:
            seen[size].append(stage)
        leader = best_trial()
        for size in running:
            if len(seen[size]) < 2:
                continue
            gain = value(size, seen[size][-2]) - value(size, stage)
            best = min(seen[size], key=lambda one: (value(size, one), one))
            n_flat = len(seen[size]) - 1 - seen[size].index(best)
            risen, squared_error = difference((size, stage), (size, best))
            worse = risen > 0 and risen**2 > squared_error
            edge |= risen > 0 and risen**2 == squared_error
            if n_flat >= (2 if many else 1) or (n_flat and worse):
                ended.add(size)
                continue
            left = [one for one in stages[at + 1 :] if most is None or one <= most[size]]
            away, squared_error = difference((size, stage), leader)
            behind = away > 0 and away**2 > 4 * squared_error
            hopeless = away > min(len(left), 3) * gain
            edge |= away > 0 and (away**2 == 4 * squared_error or away == min(len(left), 3) * gain)
            if size != leader[0] and behind and hopeless:
                dropped.add(size)
        ended |= {size for size in running if most is not None and stage >= most[size]}
    chosen = best_trial()
    trials = []
    for size in tables:
        for stage in seen[size]:
            word = "dropped" if size in dropped and stage == seen[size][-1] else "played"
            word = "chosen" if (size, stage) == chosen else word
            error = difference((size, stage), chosen)[1]
            trials.append((size, stage, value(size, stage), error, word))
    others = sorted((min(value(s, k) for k in seen[s]), s) for s in tables if s != chosen[0])
    return Outcome(chosen, others[0][1] if others else None, trials, edge)
