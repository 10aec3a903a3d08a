"""``--warm-start`` of ``driftgames bandit``: policies that learn from a log before they play."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from driftgames.cli._options import Reading
from driftgames.cli._tables import open_table
from driftgames.core.cells import is_number
from driftgames.core.text import listed
from driftgames.datasets.files import DataError

if TYPE_CHECKING:
    from driftgames.bandit.named_policies import PolicyFactory


class Pull(NamedTuple):
    """A row of a log; the arm is its place among the arms."""

    arm: int
    loss: float
    propensity: float


def read_log(
    source: str, arms: Sequence[str], ends: tuple[float, float], gains: bool
) -> list[Pull]:
    """Return the pulls of a table with the columns arm, propensity and loss (or gain)."""
    word = "gain" if gains else "loss"
    places = {name: k for k, name in enumerate(arms)}
    ranges = {word: ends, "propensity": (0.0, 1.0)}
    pulls = []
    with open_table(source, **Reading()._asdict(), whole=True) as table:
        columns = {name: table.column("--warm-start", name) for name in ("arm", *ranges)}
        for block, rows in table.blocks:
            cells = (block[at] for at in columns.values())
            for arm, *numbers, row in zip(*cells, rows, strict=True):
                if (name := str(arm).strip()) not in places:
                    where = table.place(row, columns["arm"])
                    raise DataError(f"{where}: an arm must be one of {listed(arms)}; got {name!r}")
                for (kind, (low, high)), cell in zip(ranges.items(), numbers, strict=True):
                    inside = is_number(cell) and low <= float(cell) <= high
                    if not inside or (kind == "propensity" and float(cell) == 0.0):
                        bracket = "(" if kind == "propensity" else "["
                        raise DataError(
                            f"{table.place(row, columns[kind])}: a {kind} must lie in "
                            f"{bracket}{low:g}, {high:g}]; got {str(cell).strip()!r}"
                        )
                pulls.append(Pull(places[name], float(numbers[0]), float(numbers[1])))
    return pulls


def warmed(make: PolicyFactory, pulls: Sequence[Pull]) -> PolicyFactory:
    """Return a factory of policies that have watched these pulls; they count as rounds."""

    def factory(n_arms: int, horizon: int, rng: Any, **settings: Any) -> Any:
        policy = make(n_arms, horizon + len(pulls), rng, **settings)
        for arm, loss, propensity in pulls:
            policy.watch(arm, loss, propensity)
        return policy

    return factory
