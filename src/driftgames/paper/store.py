"""Finished tasks on disk, so that an interrupted run goes on where it stopped.

A task is one piece of work: its name, its parameters and the function that does it. Its result
is stored under a key. The key is made from the name, the parameters, the source of this package,
the versions of the packages that compute, and the processor. A run with other parameters, other
data or other code finds nothing and does the work.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from driftgames.core.documents import DocumentError, digest, read_document, write_document
from driftgames.core.typing import Content
from driftgames.datasets import Dataset
from driftgames.paper.environment import DECISIVE, environment

_KIND = "driftgames.task"
_FORMAT = 1


@dataclass(frozen=True)
class Task:
    """One piece of work; ``run`` returns JSON members and depends on its ``identity`` alone."""

    name: str
    parameters: Mapping[str, Any]
    run: Callable[[], Content]

    @classmethod
    def of(cls, function: Callable[..., Any], *arguments: Any, **settings: Any) -> Task:
        """Return the task that calls a function, whose result is JSON members or a dataclass.

        A set is known by its name and its rows.
        """
        call = inspect.signature(function).bind(*arguments, **settings)
        call.apply_defaults()
        known = dict(call.arguments)
        for name, value in call.arguments.items():
            if isinstance(value, Dataset):
                known |= {name: value.name, "fingerprint": value.fingerprint}

        def run() -> Content:
            result = function(*call.args, **call.kwargs)
            return result if isinstance(result, dict) else asdict(result)

        return cls(function.__name__, known, run)

    @property
    def identity(self) -> Content:
        """The content of the key."""
        facts = environment()
        return {
            "name": self.name,
            "parameters": dict(self.parameters),
            "environment": {fact: facts[fact] for fact in DECISIVE},
        }

    @property
    def key(self) -> str:
        """The file's name without its ending: readable, and unlike that of any other task.

        >>> Task("fit", {"set": "a9a", "rounds": 200}, dict).key[:12]
        'fit-a9a-200-'
        """
        words = [self.name, *(str(v) for v in self.parameters.values() if len(str(v)) <= 20)]
        readable = re.sub(r"[^A-Za-z0-9.]+", "-", "-".join(words)).strip("-")
        return f"{readable[:80]}-{digest(self.identity)[:12]}"


class Store:
    """A folder of finished tasks.

    Parameters
    ----------
    folder : path
        Made when the first task is put there.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def get(self, task: Task) -> Content | None:
        """Return the stored result of a task, or None; a damaged file counts as none."""
        try:
            content = read_document(self._path(task), _KIND, _FORMAT)
        except (FileNotFoundError, DocumentError):
            return None
        if content.get("identity") != json.loads(json.dumps(task.identity)):
            return None
        result = content.get("result")
        return result if isinstance(result, dict) else None

    def put(self, task: Task, result: Content) -> None:
        """Store the result of a task, in one step."""
        self.folder.mkdir(parents=True, exist_ok=True)
        content = {"identity": task.identity, "environment": environment(), "result": result}
        write_document(self._path(task), _KIND, _FORMAT, content)

    def _path(self, task: Task) -> Path:
        return self.folder / f"{task.key}.json"
