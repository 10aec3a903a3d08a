"""The five sets of the paper: their files, checksums, public homes and notes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from driftgames.datasets import public_files
from driftgames.datasets.public_files import Derived

Derive = Callable[[Mapping[str, bytes]], Derived]
"""From the downloaded files, by name, to a set."""


@dataclass(frozen=True)
class Remote:
    """A file at its public home; ``sha256`` is of the bytes as they are served."""

    file: str
    urls: tuple[str, ...]
    sha256: str


@dataclass(frozen=True)
class Entry:
    """One set of [LS14, Tab. 2].

    Parameters
    ----------
    files : tuple of (file, sha256)
        The published content: a training and a test file, or one file that holds both.
    features : (file, sha256), optional
        The file that names the columns, ``number name`` per line.
    column_names : callable
        Returns the names of the columns where no file has them.
    remotes : tuple of Remote
        What is downloaded.
    derive : callable, optional
        How the downloaded files become the set. Default: they are the set.
    """

    name: str
    title: str
    n_train: int
    n_test: int
    n_features: int
    classes: tuple[str, str]
    files: tuple[tuple[str, str], ...]
    remotes: tuple[Remote, ...]
    features: tuple[str, str] | None = None
    column_names: Callable[[], tuple[str, ...]] = tuple
    derive: Derive | None = None
    note: str = ""

    @property
    def published_files(self) -> dict[str, str]:
        """The sha256 of each file of the published content; the names of the columns come last."""
        return dict(self.files if self.features is None else (*self.files, self.features))

    @property
    def likewise_files(self) -> dict[str, None]:
        """The files of a set that was made likewise from other rows: examples and features."""
        return {f"{self.name}.likewise.svm": None, f"{self.name}.likewise.features.txt": None}


_LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary"
_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
_MNIST = (
    "https://ossci-datasets.s3.amazonaws.com/mnist",
    "https://storage.googleapis.com/cvdf-datasets/mnist",
)
_DIGITS = ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz")

# as sha256sum writes them
_CHECKSUMS = """\
f5d5ffd8d865ff41328e7ee043e4b020816914ff6843ff15b98905ddbedce906  a9a
1f448a153f0320399a7e40836eb207655b0bde0f21fc941cc472193daa9f5de9  a9a.t
5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d  adult.data
55846c22344fb16182b5c87791661c2c031984b23d545856941a22b3076013df  census131.features.txt
cd5e49ad8746e432ed5f1f49ccd205aec25f3250b9755b68077fe582a2df1181  census131.labelled.svm
878ae78e9d125e03667f7d02471e44d30dfa8395070f7b83eb5b6bc3546fadaa  ocr49_403.features.txt
fefe51ce5b388fa9fab640fee4e8b298c83a1f413de801ad18ffd133baf60bea  ocr49_403.labelled.svm
ebbae10c85d3c285e2a2489a37e42bc2ee8d91d15005e391a9962fa3389a114f  splice.data
7ea82974c9a24dd5034f350a27762decf326e54c5c49b34d76363f120945ada9  splice240.features.txt
d8e59b17b560af5f4f6f7b8d4799d8ba85ecaa59ce72ef5d9f76061acd8ffb45  splice240.labelled.svm
440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609  train-images-idx3-ubyte.gz
3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c  train-labels-idx1-ubyte.gz
6a9fa8fd5f524303240a5db07d4b3d4a51e8b7b4b20a914105d8e3e8c81640f2  w8a
618929ecb01bebb841daec4cae4aa07b97832d29b08652452775598929547fde  w8a.t
"""
_SHA256 = {name: sha256 for sha256, name in map(str.split, _CHECKSUMS.splitlines())}


def _files(*names: str) -> tuple[tuple[str, str], ...]:
    return tuple((name, _SHA256[name]) for name in names)


def _remotes(homes: tuple[str, ...], *names: str) -> tuple[Remote, ...]:
    return tuple(
        Remote(name, tuple(f"{home}/{name}" for home in homes), _SHA256[name]) for name in names
    )


_ENTRIES = (
    Entry(
        "a9a",
        "UCI Adult in the LIBSVM collection's binarisation",
        n_train=32561,
        n_test=16281,
        n_features=123,
        classes=("<=50K", ">50K"),
        files=_files("a9a", "a9a.t"),
        remotes=_remotes((_LIBSVM,), "a9a", "a9a.t"),
        column_names=public_files.a9a_feature_names,
    ),
    Entry(
        "census",
        "R. Schapire's draw from UCI Adult",
        n_train=1000,
        n_test=1000,
        n_features=131,
        classes=("<=50K", ">50K"),
        files=_files("census131.labelled.svm"),
        features=_files("census131.features.txt")[0],
        remotes=_remotes((f"{_UCI}/adult",), "adult.data"),
        derive=lambda files: public_files.derive_census(files["adult.data"].decode()),
    ),
    Entry(
        "ocr49",
        "R. Schapire's fours and nines from MNIST, 14 x 14 pixels of four levels",
        n_train=1000,
        n_test=1000,
        n_features=403,
        classes=("4", "9"),
        files=_files("ocr49_403.labelled.svm"),
        features=_files("ocr49_403.features.txt")[0],
        remotes=_remotes(_MNIST, *_DIGITS),
        derive=lambda files: public_files.derive_ocr49(*(files[name] for name in _DIGITS)),
    ),
    Entry(
        "splice",
        "R. Schapire's 1,000 rows of UCI Splice",
        n_train=500,
        n_test=500,
        n_features=240,
        classes=("N", "S"),
        files=_files("splice240.labelled.svm"),
        features=_files("splice240.features.txt")[0],
        remotes=_remotes(
            (f"{_UCI}/molecular-biology/splice-junction-gene-sequences",), "splice.data"
        ),
        derive=lambda files: public_files.derive_splice(files["splice.data"].decode()),
    ),
    Entry(
        "w8a",
        "J. Platt's web pages in the LIBSVM collection",
        n_train=49749,
        n_test=14951,
        n_features=300,
        classes=("other pages", "the category"),
        files=_files("w8a", "w8a.t"),
        remotes=_remotes((_LIBSVM,), "w8a", "w8a.t"),
        column_names=lambda: tuple(f"keyword {k}" for k in range(1, 301)),
        note="Every row of its test file is also a row of its training file: "
        "its test error is an error on training rows.",
    ),
)

CATALOGUE: dict[str, Entry] = {entry.name: entry for entry in _ENTRIES}
"""The sets of the paper by name, in the order of its tables."""
