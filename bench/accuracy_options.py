"""What subjects that compare libraries can be told; quick to import, because --help reads it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

COMPARISONS = ("accuracy", "large", "tuned", "regression")
"""The subjects that take these options."""


class AccuracyOptions(NamedTuple):
    """What a comparison of libraries (accuracy, large, tuned, regression) can be told.

    Options:
        results (FILE): Comparisons: the file of results, to which a run adds what it lacks.
            Default: build/SUBJECT.jsonl.
        libraries (NAME,NAME): Comparisons: only these libraries.
        sets (NAME,NAME): Comparisons: only these sets.
        splits (N,N): Comparisons: only these splits.
        half (NAME): Comparisons: only the sets to choose on (choose) or to report on (report).
        again (NAME,NAME): Comparisons: drop the rows of these libraries first, and measure them
            anew.
        settings (FILE.py): Comparisons: compare settings of ours too. SETTINGS of this file are
            functions by name, each of which returns an estimator.
        only_report: Comparisons: measure nothing; show what the file of results has.
        figures (FOLDER): Comparisons: write pictures of the mean ranks to this folder.
        page (FILE.md): Comparisons: write the tables into this page, as Markdown.
    """

    results: Path | None = None
    libraries: str | None = None
    sets: str | None = None
    splits: str | None = None
    half: str | None = None
    again: str | None = None
    settings: Path | None = None
    only_report: bool = False
    figures: Path | None = None
    page: Path | None = None
