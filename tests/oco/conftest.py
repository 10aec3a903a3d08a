import csv
import io
import json
import lzma
from pathlib import Path

import numpy as np
import pytest

from driftgames.core.documents import write_document
from driftgames.oco import Ball, Box, Interval, Polytope, Simplex, price_relatives

NYSE_O = Path(__file__).parents[3] / "shared" / "data" / "portfolio" / "nyse_o.csv.xz"

SETS = {
    "interval": Interval(-1.0, 2.0),
    "box": Box([0.0, -1.0], [1.0, 3.0]),
    "box of 5": Box(np.arange(5.0), np.arange(5.0) + 2.0),
    "simplex": Simplex(3),
    "simplex of 6": Simplex(6),
    "ball": Ball([1.0, -1.0], 2.0),
    "ball of 5": Ball(np.ones(5), 0.5),
    "triangle": Polytope([[-1, 0], [0, -1], [1, 1]], [0, 0, 1]),
    "octahedron": Polytope(
        [[a, b, c] for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)], np.ones(8)
    ),
}


@pytest.fixture(params=SETS)
def domain(request):
    return SETS[request.param]


@pytest.fixture(scope="session")
def nyse_o():
    """Relatives of NYSE(O) and the column of each stock."""
    if not NYSE_O.exists():
        pytest.skip(f"{NYSE_O} is not there")
    text = lzma.decompress(NYSE_O.read_bytes()).decode()
    header, *rows = csv.reader(io.StringIO(text))
    prices = np.array(rows, dtype=float)
    return price_relatives(prices, before=1.0), {name: k for k, name in enumerate(header)}


@pytest.fixture
def rewrite():
    """Return a function that changes a document's content and makes its sha256 match again."""

    def change(path, changing):
        document = json.loads(path.read_text())
        changing(document["content"])
        write_document(path, document["format"], document["version"], document["content"])

    return change
