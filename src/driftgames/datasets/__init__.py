"""Data: a set by its name, from the first folder that has it, checked against its sha256.

`load` gives the sets of the paper's experiments [LS14, Tab. 2] and two that come with
scikit-learn, `load_market` and `load_electric_load` those for learning online, and
`read_libsvm` any file in LIBSVM's text format.
"""

from driftgames.datasets.bundled import BUNDLED
from driftgames.datasets.catalogue import CATALOGUE
from driftgames.datasets.dataset import Dataset, Split
from driftgames.datasets.download import DownloadError, download
from driftgames.datasets.export import export
from driftgames.datasets.files import DataError
from driftgames.datasets.libsvm import LibsvmError, read_libsvm, write_libsvm
from driftgames.datasets.loader import MissingDataError, Status, fetch, load, status
from driftgames.datasets.online import Market, Series, load_electric_load, load_market

__all__ = [
    "BUNDLED",
    "CATALOGUE",
    "DataError",
    "Dataset",
    "DownloadError",
    "LibsvmError",
    "Market",
    "MissingDataError",
    "Series",
    "Split",
    "Status",
    "download",
    "export",
    "fetch",
    "load",
    "load_electric_load",
    "load_market",
    "read_libsvm",
    "status",
    "write_libsvm",
]
