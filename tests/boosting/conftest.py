"""The sets of the paper's experiments, read once; tests skip where they are not there."""

import functools
import io
import lzma
from pathlib import Path

import pytest
from sklearn.datasets import load_svmlight_file

DATA = Path(__file__).parents[2].parent / "shared" / "data"

FILES = {
    "a9a": ("a9a/a9a.xz", "a9a/a9a.t.xz", 123),
    "w8a": ("w8a/w8a.xz", "w8a/w8a.t.xz", 300),
    "census": ("census/census131.labelled.svm.xz", None, 131),
    "splice": ("splice/splice240.labelled.svm.xz", None, 240),
    "ocr49": ("ocr49/ocr49_403.labelled.svm.xz", None, 403),
}


def _read(path, n_features):
    text = lzma.decompress((DATA / path).read_bytes())
    return load_svmlight_file(io.BytesIO(text), n_features=n_features)


@functools.cache
def _load(name):
    train, test, n_features = FILES[name]
    X, y = _read(train, n_features)
    if test is None:
        half = X.shape[0] // 2
        return (X[:half], y[:half]), (X[half:], y[half:])
    return (X, y), _read(test, n_features)


@pytest.fixture
def paper_data():
    """``paper_data(name)`` returns the train and the test part of a set of the paper."""
    if not DATA.is_dir():
        pytest.skip(f"there is no {DATA}")
    return _load
