"""Sets for learning online: two markets and a load curve.

The market files hold CUMULATIVE prices: the relative of day ``t`` is ``row_t / row_{t-1}``, and
that of the first day is the first row itself, as all begin at 1.
"""

from __future__ import annotations

import csv
import io
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from driftgames.core.display import Displayed, Fields, Sketch
from driftgames.core.registry import choose
from driftgames.core.typing import FloatArray
from driftgames.datasets.catalogue import Remote
from driftgames.datasets.download import DownloadError, download
from driftgames.datasets.files import DataError, cache, find_file, read_checked, search_path
from driftgames.datasets.loader import MissingDataError

_PORTFOLIOS = (
    "https://raw.githubusercontent.com/Marigold/universal-portfolios/master/universal/data"
)

MARKETS: dict[str, Remote] = {
    name: Remote(f"portfolio/{name}.csv", (f"{_PORTFOLIOS}/{name}.csv",), sha256)
    for name, sha256 in (
        ("nyse_o", "b2f26e2ce08d12871b631f02c0990637ab7bde02c2a90f4f804b0dd24cb6820d"),
        ("djia", "c31b8dddb98863a3d1a1e7706767d75dc1e048eb86c0de5bd4dfb9cec9180a5c"),
    )
}
"""NYSE(O), Cover's 36 stocks of 1962-84, and the thirty of the Dow Jones of 2001-03."""

_ELECTRIC_LOAD = Remote(
    "experts/electric_load.csv",
    (),
    "335ae197a9befadaeecc3a2b395c56b2bb109a329d8856360f77ee2d0e296619",
)


@dataclass(frozen=True)
class Market(Displayed):
    """Price relatives, one row per day and one column per asset."""

    name: str
    relatives: FloatArray
    assets: tuple[str, ...]
    source: str

    def _headline(self) -> str:
        days, assets = self.relatives.shape
        return f"{self.name}, {days:,} days of {assets} assets, from {self.source}"

    def _columns(self) -> Fields:
        return dict(zip(self.assets, self.relatives.T, strict=True))

    def _preview(self) -> Fields:
        return {}

    def _sketch(self) -> Sketch:
        mean = np.cumprod(self.relatives, axis=0).mean(axis=1)
        return Sketch(range(1, mean.size + 1), {"mean wealth of the assets": mean}, label="day")


@dataclass(frozen=True)
class Series(Displayed):
    """A target over time, and the features known before each forecast."""

    name: str
    target: FloatArray
    features: FloatArray
    feature_names: tuple[str, ...]
    source: str

    def _headline(self) -> str:
        steps, features = self.features.shape
        return f"{self.name}, {steps:,} steps and {features} features, from {self.source}"

    def _columns(self) -> Fields:
        return {
            "target": self.target,
            **dict(zip(self.feature_names, self.features.T, strict=True)),
        }

    def _preview(self) -> Fields:
        return {}

    def _sketch(self) -> Sketch:
        return Sketch(range(1, self.target.size + 1), {"target": self.target}, label="step")


def load_market(
    name: str, *, directory: str | os.PathLike[str] | None = None, allow_download: bool = True
) -> Market:
    """Return the price relatives of a market: ``nyse_o`` or ``djia``.

    It is looked for as `load` looks for the sets of the paper.
    """
    remote = choose("market", name, MARKETS)
    from driftgames.portfolio import price_relatives

    assets, prices, source = _read_table(remote, directory, allow_download)
    return Market(name, price_relatives(prices, before=1.0), assets, source)


def load_electric_load(*, directory: str | os.PathLike[str] | None = None) -> Series:
    """Return the weekly electricity load of France, 1996-2009, in megawatts.

    The table is ``electric_load`` of the R package opera. It is not downloaded, because no
    public home serves it as text. ``write.csv(opera::electric_load, row.names=FALSE)`` writes it.
    """
    names, table, source = _read_table(_ELECTRIC_LOAD, directory, allow_download=False)
    at = names.index("Load")
    others = [j for j in range(len(names)) if j != at]
    return Series(
        "electric_load",
        table[:, at].copy(),
        table[:, others],
        tuple(names[j] for j in others),
        source,
    )


def _read_table(
    remote: Remote, directory: str | os.PathLike[str] | None, allow_download: bool
) -> tuple[tuple[str, ...], FloatArray, str]:
    file = Path(remote.file)
    looked = search_path(directory)
    for location in looked:
        path = find_file(location.folder / file.parent, file.name)
        if path is not None:
            return *_parse_csv(read_checked(path, remote.sha256), str(path)), str(location)
    where = ", ".join(str(location.folder / file) for location in looked)
    if not (allow_download and remote.urls):
        raise MissingDataError(f"{file.name} is not there: looked for {where}")
    try:
        path = download(remote.urls, cache().folder / file, remote.sha256)
    except DownloadError as error:
        raise MissingDataError(f"{file.name} is not in {where} ({error})") from error
    return *_parse_csv(read_checked(path, remote.sha256), str(path)), str(cache())


def _parse_csv(data: bytes, name: str) -> tuple[tuple[str, ...], FloatArray]:
    header, *rows = csv.reader(io.StringIO(data.decode()))
    try:
        table = np.array(rows, dtype=np.float64)
    except ValueError as error:
        raise DataError(f"{name}: not a table of numbers ({error})") from error
    if table.ndim != 2 or table.shape[1] != len(header):
        raise DataError(f"{name}: {len(header)} names for columns of shape {table.shape}")
    return tuple(header), table
