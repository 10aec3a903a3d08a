"""What ``driftgames boost inspect`` shows of a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from driftgames.cli._output import make_table

if TYPE_CHECKING:
    from rich.console import RenderableType


def summary_of(path: Path, booster: Any) -> RenderableType:
    import numpy as np

    history = booster.history_
    rows = [
        ["algorithm", type(booster).__name__],
        ["classes", ", ".join(str(name) for name in booster.classes_.tolist())],
        ["rounds", f"{booster.n_iter_:,}"],
        ["features", f"{booster.n_features_in_:,}"],
        ["features that vote", f"{np.unique(_asked(booster)).size:,}"],
    ]
    if booster.n_iter_:
        rows += [
            ["smallest edge", f"{min(history['edge']):.4f}"],
            ["mean share of zero weights", f"{np.mean(history['zero_fraction']):.1%}"],
            ["training error", f"{history['training_error'][-1]:.2%}"],
        ]
    return make_table(str(path), ["model", ""], rows)


def features_of(booster: Any, top: int) -> RenderableType:
    import numpy as np

    from driftgames.tables import Column, Table, draw_table

    names = getattr(booster, "feature_names_in_", None)
    if len(booster.trees_):
        importances, asked = booster.feature_importances_, _asked(booster)
        used = sorted(set(asked.tolist()), key=lambda j: (-importances[j], j))[:top]
        counted = tuple(
            (feature_name(names, j), int((asked == j).sum()), float(importances[j])) for j in used
        )
        heads = (Column("feature"), Column("questions"), Column("importance", ".4f"))
        return draw_table(Table("The features that have most of the edges", heads, counted))
    shapes = booster.shape_functions_
    order = sorted(shapes, key=lambda j: -float(np.ptp(shapes[j].values)))[:top]
    rows = tuple(
        (
            feature_name(names, j),
            int((_asked(booster) == j).sum()),
            float(shapes[j].values.min()),
            float(shapes[j].values.max()),
        )
        for j in order
    )
    votes = (Column(name, "+.4f") for name in ("lowest vote", "highest vote"))
    columns = (Column("feature"), Column("stumps"), *votes)
    return draw_table(Table("The features that move the decision most", columns, rows))


def _asked(booster: Any) -> Any:
    """Return the feature of every question of a model."""
    trees = booster.trees_
    asked = trees.feature[trees.left > 0] if len(trees) else booster.stumps_.feature
    return asked if booster.encoder_ is None else booster.encoder_.feature[asked]


def feature_name(names: Any, feature: int) -> str:
    return f"x{feature}" if names is None else str(names[feature])


def margins_on(name: str, margins: Any) -> RenderableType:
    import numpy as np

    from driftgames.tables import Column, Table, draw_table

    shares = (0.0, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
    rows = tuple((f"{share:.0%}", float(np.quantile(margins, share))) for share in shares)
    columns = (Column("share of examples"), Column("margin at most", "+.4f"))
    return draw_table(Table(f"Margins on {name}", columns, rows))
