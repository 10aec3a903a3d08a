"""The arrows between the modules of boosting: no cycle, but for two that only types close."""

import ast
from pathlib import Path

import driftgames.boosting

ROOT = Path(driftgames.boosting.__file__).parent
TYPED = [
    {
        "estimators.base",
        "estimators.persistence",
        "fit.averaging",
        "fit.batch_fit",
        "fit.batches",
        "fit.calibration",
        "fit.choosing",
        "fit.folds",
        "fit.monitoring",
        "fit.race",
        "fit.rounds",
        "fit.warm_start",
    },
    {
        "growth.pair_training_set",
        "growth.shared_training_set",
        "growth.shares",
        "growth.training_set",
        "growth.tree_training_set",
    },
]
"""The modules that lie on cycles if types and imports inside functions count too."""


def statements(tree, *, at_start):
    """Yield the statements of a module; ``at_start`` only those that run when it is imported."""
    waiting = list(tree.body)
    while waiting:
        node = waiting.pop()
        yield node
        if at_start and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if at_start and isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            waiting += node.orelse
            continue
        waiting += [each for each in ast.iter_child_nodes(node) if isinstance(each, ast.stmt)]


def arrows(*, at_start):
    """Return the modules of boosting that each module of boosting imports."""
    prefix = "driftgames.boosting."
    names = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in ROOT.rglob("*.py")
    }
    found = {}
    for name, path in names.items():
        imported = set()
        for node in statements(ast.parse(path.read_text()), at_start=at_start):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(prefix[:-1]):
                module = node.module.removeprefix(prefix[:-1]).removeprefix(".")
                for each in node.names:
                    longer = f"{module}.{each.name}".removeprefix(".")
                    imported.add(longer if longer in names else module)
        found[name] = imported & set(names)
    return found


def cycles(graph):
    """Return the sets of modules that reach each other."""
    reached = {}
    for start in graph:
        seen, waiting = set(), [start]
        while waiting:
            for each in graph[waiting.pop()] - seen:
                seen.add(each)
                waiting.append(each)
        reached[start] = seen
    rings = {frozenset(b for b in reached[a] if a in reached[b]) for a in graph if a in reached[a]}
    return sorted(map(set, rings), key=min)


def test_cycles_are_found():
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == [{"b", "c"}]
    found = arrows(at_start=True)
    assert "fit.race" in found["fit.choosing"]
    assert "fit.calibration" in found["fit.choosing"]  # as a module
    assert "estimators.base" not in found["fit.calibration"]  # a type
    assert "estimators.base" in arrows(at_start=False)["fit.calibration"]


def test_no_cycle_of_imports_when_modules_are_loaded():
    assert cycles(arrows(at_start=True)) == []


def test_types_and_late_imports_close_no_other_cycle():
    for ring in cycles(arrows(at_start=False)):
        assert any(ring <= known for known in TYPED), ring
