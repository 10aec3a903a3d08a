"""The count of lines leaves out docstrings, comments and blank lines."""

import importlib.util
from pathlib import Path

TOOL = Path(__file__).parents[1] / "tools" / "count_lines.py"

TEXT = '''"""A docstring
of two lines."""

# a comment
def double(x):
    """Another one."""
    return """a text
    of two lines""" * x  # a comment behind code
'''


def test_lines_of_code_are_counted_by_package(tmp_path):
    spec = importlib.util.spec_from_file_location("count_lines", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    source = tmp_path / "driftgames"
    (source / "games").mkdir(parents=True)
    for name in ("top.py", "games/chips.py", "games/rules.py"):
        (source / name).write_text(TEXT)
    assert module.count(source) == {"driftgames": (1, 8, 3), "games": (2, 16, 6)}
