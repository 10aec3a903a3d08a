"""The paper's experiments as functions that return plain data; `report` renders them.

`choose_sets` finds the data, `select` the experiments, and `reproduce` does the work that is
not yet in its `Store` and returns a `Report`: tables and figures, ours beside the published
numbers.
"""

from driftgames.experiments.boosting import Fit, fit
from driftgames.experiments.experiment import EXPERIMENTS, Experiment, Setting
from driftgames.experiments.hedge import HedgeRun, hedge_run
from driftgames.experiments.reproduce import Report, reproduce, select
from driftgames.experiments.results import Column, Figure, Panel, Section, Table
from driftgames.experiments.sets import Chosen, choose_sets
from driftgames.experiments.store import Part, Store

__all__ = [
    "EXPERIMENTS",
    "Chosen",
    "Column",
    "Experiment",
    "Figure",
    "Fit",
    "HedgeRun",
    "Panel",
    "Part",
    "Report",
    "Section",
    "Setting",
    "Store",
    "Table",
    "choose_sets",
    "fit",
    "hedge_run",
    "reproduce",
    "select",
]
