"""What ``python -m bench accuracy`` can be told; quick to import, because --help reads it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

RESULTS = Path("build/accuracy.jsonl")
"""The file of results, where no other is named."""


class AccuracyOptions(NamedTuple):
    """What the comparison of accuracy can be told.

    Options:
        results (FILE): accuracy: the file of results, to which a run adds what it lacks.
        libraries (NAME,NAME): accuracy: only these libraries.
        sets (NAME,NAME): accuracy: only these sets.
        splits (N,N): accuracy: only these splits, 0 or 1.
        half (NAME): accuracy: only the sets to choose on (choose) or to report on (report).
        again (NAME,NAME): accuracy: drop the rows of these libraries first, and measure them anew.
        settings (FILE.py): accuracy: compare settings of ours too. SETTINGS of this file are
            functions by name, each of which returns a classifier.
        only_report: accuracy: measure nothing; show what the file of results has.
        figures (FOLDER): accuracy: write pictures of the mean ranks to this folder.
        page (FILE.md): accuracy: write the tables into this page.
    """

    results: Path = RESULTS
    libraries: str | None = None
    sets: str | None = None
    splits: str | None = None
    half: str | None = None
    again: str | None = None
    settings: Path | None = None
    only_report: bool = False
    figures: Path | None = None
    page: Path | None = None
