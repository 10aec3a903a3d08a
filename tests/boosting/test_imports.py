"""The arrows between the modules of boosting make no cycle, types and late imports included."""

import ast
from pathlib import Path

import driftgames.boosting

ROOT = Path(driftgames.boosting.__file__).parent


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
    assert "engine.rounds" in found["engine.remote_game"]  # as a module
    assert "export.scorecard" not in found["fitted"]  # late
    assert "export.scorecard" in arrows(at_start=False)["fitted"]


def test_no_cycle_of_imports():
    assert cycles(arrows(at_start=True)) == []
    assert cycles(arrows(at_start=False)) == []
