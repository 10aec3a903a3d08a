"""What ``driftgames boost`` shows of a model and of its predictions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from driftgames.tables import Column, Table


def facts_of(booster: Any) -> dict[str, Any]:
    """Return the facts of a model by their names."""
    import numpy as np

    history = booster.history_
    facts = {
        "algorithm": type(booster).__name__,
        "classes": booster.classes_.tolist(),
        "rounds": int(booster.n_iter_),
        "features": int(booster.n_features_in_),
        "features that vote": int(np.unique(_asked(booster)).size),
    }
    if booster.n_iter_:
        facts |= {
            "smallest edge": float(min(history["edge"])),
            "mean share of zero weights": float(np.mean(history["zero_fraction"])),
            "training error": float(history["training_error"][-1]),
        }
    return facts


def summary_of(path: Path, facts: dict[str, Any]) -> Table:
    """Return the facts of a model as a table of texts."""
    forms = {"smallest edge": ".4f", "mean share of zero weights": ".1%", "training error": ".2%"}
    shown = {**facts, "classes": ", ".join(map(str, facts["classes"]))}
    rows = [
        (name, value if isinstance(value, str) else format(value, forms.get(name, ",")))
        for name, value in shown.items()
    ]
    return Table(str(path), (Column("model"), Column("", flush_right=True)), tuple(rows))


def features_of(booster: Any, top: int) -> Table:
    """Return the features that vote most."""
    import numpy as np

    names = getattr(booster, "feature_names_in_", None)
    if len(booster.trees_):
        importances, asked = booster.feature_importances_, _asked(booster)
        used = sorted(set(asked.tolist()), key=lambda j: (-importances[j], j))[:top]
        counted = tuple(
            (feature_name(names, j), int((asked == j).sum()), float(importances[j])) for j in used
        )
        heads = (Column("feature"), Column("questions"), Column("importance", ".4f"))
        return Table("The features that have most of the edges", heads, counted)
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
    return Table("The features that move the decision most", columns, rows)


def _asked(booster: Any) -> Any:
    """Return the feature of every question of a model."""
    trees = booster.trees_
    asked = trees.feature[trees.left > 0] if len(trees) else booster.stumps_.feature
    return asked if booster.encoder_ is None else booster.encoder_.feature[asked]


def feature_name(names: Any, feature: int) -> str:
    return f"x{feature}" if names is None else str(names[feature])


def margins_on(name: str, margins: Any) -> Table:
    """Return the quantiles of the margins of examples."""
    import numpy as np

    shares = (0.0, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
    rows = tuple((f"{share:.0%}", float(np.quantile(margins, share))) for share in shares)
    columns = (Column("share of examples"), Column("margin at most", "+.4f"))
    return Table(f"Margins on {name}", columns, rows)


def predictions_of(booster: Any, X: Any) -> dict[str, Any]:
    """Return the labels, votes and probabilities of examples as plain data."""
    votes, p = booster.decision_function(X), booster.predict_proba(X)
    columns = booster.predict(X).tolist(), votes.tolist(), p.tolist()
    rows = zip(*columns, strict=True)
    names = ("label", "score", "probabilities")
    return {
        "classes": booster.classes_.tolist(),
        "predictions": [dict(zip(names, row, strict=True)) for row in rows],
    }


def line_of(answer: Any) -> str:
    """Return a prediction as text: one value, or a column for each class."""
    return " ".join(map(str, answer)) if isinstance(answer, list) else str(answer)
