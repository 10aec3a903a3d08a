"""The exchange of commands and answers with the holders; it replaces workers that are lost.

A command goes to all holders at once. If a worker dies or falls silent, Dask recomputes its
partitions elsewhere, a new holder bins them and replays the commands so far, and the fit goes on.
Answers are exact sums, so that the model does not depend on who answered.
"""

from __future__ import annotations

import math
import time
import uuid
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from distributed import Client, wait

from driftgames.boosting.engine.remote_game import LASTING, Command, combine
from driftgames.dask.holder import Holder, Message
from driftgames.dask.partitions import PartitionSetup

PATIENCE = 1.0
"""Seconds without an answer after which the scheduler is asked whether the worker lives."""

MOST_COMPILATION = 600.0
"""Seconds for which a worker may compile during one answer before ``timeout`` counts."""

MOST_LOSSES = 20
"""How often partitions may be lost during one exchange."""


class LostWorkersError(RuntimeError):
    """Workers were lost too often, or none is left."""


class _LostError(Exception):
    """A holder is gone."""


@dataclass(eq=False)
class _HolderHandle:
    """The client's side of a `Holder`: its future, worker, partitions and actor."""

    future: Any
    address: str
    parts: list[int]
    actor: Any = None


class ActorExchange:
    """Asks holders on the workers of a Dask cluster; a context manager that leaves none behind.

    ``parts`` are the partitions by number, delayed `Partition` objects. They are computed again if
    a worker is lost, or does not answer for ``timeout`` seconds in which it does not compile.
    """

    def __init__(
        self, client: Client, parts: dict[int, Any], setup: PartitionSetup, timeout: float
    ) -> None:
        self._client = client
        self._parts = parts
        self._setup = setup
        self._watch = ClusterWatch(client, timeout)
        self._holders: list[_HolderHandle] = []
        self._missing: list[int] = []
        self._log: list[Command] = []  # the lasting commands so far
        self._this_round: list[Command] = []  # those since the last of them
        self.n_lost = 0
        self.n_asked = 0
        self.seconds = 0.0

    def __enter__(self) -> ActorExchange:
        return self

    def __exit__(self, *error: object) -> None:
        for holder in self._holders:
            self._release(holder)
        self._holders.clear()

    def make_holders(self, futures: dict[int, Any]) -> None:
        """Make holders of these partitions where they are; note those that are lost."""
        made: list[_HolderHandle] = []
        homes = self._client.who_has(list(futures.values()))
        by_address: dict[str, list[int]] = {}
        for k, future in futures.items():
            home = next(iter(homes.get(future.key, ())), None)
            if home is None:
                self._missing.append(k)
            else:
                by_address.setdefault(home, []).append(k)
        for address, numbers in by_address.items():
            future = self._client.submit(
                Holder,
                self._setup,
                [futures[k] for k in numbers],
                key=f"driftgames-holder-{uuid.uuid4().hex}",
                actor=True,
                workers=[address],
                allow_other_workers=False,
            )
            made.append(_HolderHandle(future, address, numbers))
        self._holders += made
        for holder in made:
            try:
                holder.actor = self._watch.actor(holder.future, holder.address)
            except _LostError:
                self._drop(holder)
        for future in futures.values():
            future.release()  # the workers keep the bins only

    def ask(self, name: str, *arguments: Any) -> Any:
        """Return the answer of all examples to a command."""
        return self.ask_each((name, arguments))[0]

    def ask_each(self, *commands: Command) -> list[Any]:
        """Return the answers of all examples to commands that are sent at once."""
        begun = time.perf_counter()
        message = Message(commands)
        replies = self._collect(list(self._holders), "ask", (message,))
        n_losses = 0
        while self._missing:
            n_losses += 1
            if n_losses > MOST_LOSSES:
                raise LostWorkersError(
                    f"the partitions {sorted(self._missing)} were lost {MOST_LOSSES} times in a row"
                )
            replies += self._collect(self._restore(), "ask", (message,))
        for name, arguments in commands:
            if name in LASTING:
                self._this_round.clear()
                self._log.append((name, arguments))
            else:
                self._this_round.append((name, arguments))
        self.n_asked += 1
        self.seconds += time.perf_counter() - begun
        answers = zip(*(reply.content for reply in replies), strict=True)
        return [combine(name, each) for (name, _), each in zip(commands, answers, strict=True)]

    def busiest_seconds(self) -> float:
        """Return the seconds for which the busiest holder worked."""
        return max(self._collect(list(self._holders), "seconds", ()), default=0.0)

    def _collect(
        self, holders: list[_HolderHandle], method: str, arguments: tuple[Any, ...]
    ) -> list[Any]:
        """Return the answers of these holders; drop those that are lost."""
        asked: list[tuple[_HolderHandle, Any]] = []
        for holder in holders:
            try:
                asked.append((holder, getattr(holder.actor, method)(*arguments)))
            except RuntimeError:  # Dask knows already that the worker is gone
                self._drop(holder)
        answers = []
        n_commands = len(arguments[0]) if method == "replay" else 1
        for holder, future in asked:
            try:
                answers.append(self._watch.result(future, holder.address, holder.actor, n_commands))
            except _LostError:
                self._drop(holder)
        return answers

    def _restore(self) -> list[_HolderHandle]:
        """Make holders of the missing partitions, and bring them to where the others stand."""
        lost, self._missing = sorted(self._missing), []
        before = set(self._holders)
        self._watch.wait_for_workers()
        futures = dict(zip(lost, self._client.compute([self._parts[k] for k in lost]), strict=True))
        self._watch.wait(list(futures.values()))
        self.make_holders(futures)
        fresh = [holder for holder in self._holders if holder not in before]
        self._collect(fresh, "replay", ([*self._log, *self._this_round],))
        return [holder for holder in fresh if holder in self._holders]

    def _drop(self, holder: _HolderHandle) -> None:
        self.n_lost += 1
        self._missing += holder.parts
        self._holders.remove(holder)
        self._release(holder)

    def _release(self, holder: _HolderHandle) -> None:
        holder.actor = None
        with suppress(Exception):  # the cluster may be gone
            self._client.cancel([holder.future], force=True)


class ClusterWatch:
    """Waits for results, and never longer than the cluster shows signs of life.

    What does not answer for ``timeout`` seconds counts as gone.
    """

    def __init__(self, client: Client, timeout: float) -> None:
        self._client = client
        self._timeout = timeout
        self._beats: dict[str, tuple[float, float]] = {}

    def wait(self, futures: list[Any], *, address: str | None = None) -> None:
        """Wait until futures are done; raise `_LostError` if the worker ``address`` goes first."""
        while True:
            with suppress(TimeoutError):
                wait(futures, timeout=PATIENCE)
                return
            living = self._living()
            if address is not None and address not in living:
                raise _LostError
            if not living:
                self.wait_for_workers()

    def actor(self, future: Any, address: str) -> Any:
        """Return an actor as soon as it is made; raise `_LostError` if its worker is gone."""
        self.wait([future], address=address)
        try:
            return future.result()
        except RuntimeError:
            if address in self._living():
                raise
            raise _LostError from None

    def result(self, future: Any, address: str, actor: Any, n_commands: int) -> Any:
        """Return what an actor answers; raise `_LostError` if its worker is gone.

        The clock starts when the worker has compiled, or after `MOST_COMPILATION` seconds.
        """
        asked = begun = time.monotonic()
        while True:
            try:
                return future.result(timeout=PATIENCE)
            except TimeoutError:
                if address not in self._living():
                    raise _LostError from None
                if time.monotonic() - asked <= MOST_COMPILATION and _compiles(actor):
                    begun = time.monotonic()
                if time.monotonic() - begun > self._timeout * n_commands:
                    raise _LostError from None
            except OSError:
                raise _LostError from None

    def wait_for_workers(self) -> None:
        """Wait until there is a worker; raise `LostWorkersError` after the time limit."""
        begun = time.monotonic()
        while not self._living():
            if time.monotonic() - begun > self._timeout:
                raise LostWorkersError(f"no worker is left, and none came in {self._timeout:g} s")
            time.sleep(PATIENCE / 4)

    def _living(self) -> set[str]:
        """Return the addresses of the workers; remove those that are silent for too long."""
        begun = time.monotonic()
        while True:
            with suppress(OSError, TimeoutError):
                if self._client.status == "running":
                    scheduler = self._client.scheduler
                    identity = self._client.sync(scheduler.identity, callback_timeout=PATIENCE)
                    break
            if self._client.status == "closed" or time.monotonic() - begun > self._timeout:
                raise ConnectionError(
                    f"the scheduler does not answer (the client is {self._client.status})"
                )
            time.sleep(PATIENCE / 4)
        now = time.monotonic()
        living: dict[str, tuple[float, float]] = {}
        for address, worker in identity["workers"].items():
            beat, since = self._beats.get(address, (math.nan, now))
            if beat != worker["last_seen"]:
                beat, since = worker["last_seen"], now  # a heartbeat came, by the clock here
            if now - since <= self._timeout:
                living[address] = beat, since
            else:
                self._remove(address)
        self._beats = living
        return set(living)

    def _remove(self, address: str) -> None:
        """Make the scheduler give up a worker, so that it computes its results elsewhere."""

        async def remove(dask_scheduler: Any = None) -> None:
            await dask_scheduler.remove_worker(address=address, stimulus_id="driftgames-silent")

        self._client.run_on_scheduler(remove)


def _compiles(actor: Any) -> bool:
    """Return whether the worker of a `Holder` compiles; one that does not say so does not."""
    with suppress(OSError, RuntimeError, TimeoutError):
        return bool(actor.compiles().result(timeout=PATIENCE))
    return False
