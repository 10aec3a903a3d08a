"""Locks on files that end with their process, however it ends.

The lock is the operating system's own, on an open file: a process that is killed leaves none. Some
file systems have no locks (network folders, FUSE). There work goes on without one, and a warning
says so once.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

_NO_LOCKS = frozenset({errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK, errno.EINVAL})
"""What a file system without locks answers."""


class NoLockWarning(UserWarning):
    """The file system has no locks, so that two processes may write to one file."""


if sys.platform == "win32":
    import msvcrt

    def try_lock(handle: int) -> bool | None:
        """Lock an open file until it is closed; return whether the lock was free."""
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def try_lock(handle: int) -> bool | None:
        """Lock an open file until it is closed; return whether the lock was free.

        None, with a warning, if the file system has no locks.
        """
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
            _warn_once()
            return None
        return True


_warned = False


def _warn_once() -> None:
    """Warn once in a process, whatever filters say of repeated warnings."""
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(
            "this file system has no locks: files are still replaced in one step, but nothing "
            "keeps two processes from writing to the same file",
            NoLockWarning,
            stacklevel=3,
        )


class LockedError(OSError):
    """Another process works with the file; the message names it."""


@contextlib.contextmanager
def sole_writer(path: str | os.PathLike[str] | None) -> Iterator[None]:
    """Be the only one who writes to ``path`` inside the block, or raise `LockedError` at once.

    The lock is on the file ``.NAME.lock`` beside ``path``, which the block removes. None, and a
    device or a pipe, which is not replaced, need no lock.
    """
    target = None if path is None else Path(os.path.realpath(path))
    if target is None or (target.exists() and not target.is_file()):
        yield
        return
    lock = target.with_name(f".{target.name}.lock")
    handle = _lock_file(lock)
    if handle is None:
        raise LockedError(
            f"{path}: another process works with it; wait until that ends, or use another file"
        )
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # Windows does not remove an open file
            os.unlink(lock)
        os.close(handle)


def _lock_file(lock: Path) -> int | None:
    """Open and lock a file; None if another process has locked it."""
    while True:
        handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            if try_lock(handle) is False:
                os.close(handle)
                return None
            # the process that had the lock may have removed the file after it was opened here
            if same_file(handle, lock):
                return handle
        except BaseException:
            os.close(handle)
            with contextlib.suppress(OSError):
                os.unlink(lock)
            raise
        os.close(handle)


def same_file(handle: int, path: str | os.PathLike[str]) -> bool:
    """Whether ``path`` still leads to this open file."""
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False
