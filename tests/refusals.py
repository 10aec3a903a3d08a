"""Tables of files that must be refused: a member, what it becomes, and the error that names it."""

from __future__ import annotations

import copy
import json
import re

import numpy as np

from driftgames.core.documents import DocumentError, decode_array, encode_array, write_document

REMOVED = object()
"""Stands for a member that is taken out."""


def put(content, name, value):
    """Change the member of this dotted name; the entries of arrays have numbers.

    A function gets the old value, an array as such, and returns the new one.
    """
    *path, last = (int(part) if part.isdigit() else part for part in name.split("."))
    for k, part in enumerate(path):
        if _is_array(content[part]):
            array = decode_array(content[part])
            array[(*path[k + 1 :], last)] = value
            content[part] = encode_array(array)
            return
        content = content[part]
    if value is REMOVED:
        del content[last]
        return
    if callable(value):
        old = content[last]
        value = value(decode_array(old) if _is_array(old) else old)
    content[last] = encode_array(value) if isinstance(value, np.ndarray) else value


def _is_array(value):
    return isinstance(value, dict) and set(value) == {"dtype", "shape", "base64"}


def restate(thing, **members):
    """Return something that learns as if its file had said this; ``__`` stands for a dot."""
    content = thing.content()
    for name, value in members.items():
        put(content, name.replace("__", "."), value)
    return type(thing).from_content(content)


def check_refused(content, load, table):
    """Assert that each line of a table is refused with its message; without it, the file is read.

    ``load`` gets the changed content. A line is a name, a value and a message, or a dict of names
    and values, and a message.
    """
    load(copy.deepcopy(content))
    faults = []
    for *change, message in table:
        members = change[0] if isinstance(change[0], dict) else dict([change])
        changed = copy.deepcopy(content)
        for name, value in members.items():
            put(changed, name, value)
        try:
            load(changed)
        except DocumentError as error:
            if not re.search(message, str(error)):
                faults.append(f"{members}: wanted {message!r}; got {error}")
        else:
            faults.append(f"{members}: was read")
    assert not faults, "\n".join(faults)


def check_files_of(thing, path, table, **given):
    """Save something that learns; assert that each change of its file is refused by `load`."""
    thing.save(path)
    document = json.loads(path.read_text())

    def load(content):
        write_document(path, document["format"], document["version"], content)
        return type(thing).load(path, **given)

    check_refused(document["content"], load, table)
