"""The loops of the engine, compiled for each kind of rows.

Dense and sparse rows, and two classes and several, are compiled apart from the same source. A loop
is compiled when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from driftgames._kernels.jit import inner_kernel, kernel, specialise
from driftgames.boosting.growth import class_rows, class_sides, moves, pair_rows, pair_sides, rounds
from driftgames.boosting.growth import positions as keeping
from driftgames.boosting.growth import rows as row_steps
from driftgames.boosting.growth.nodes import compile_growth


class Kind(NamedTuple):
    """The kinds of rows that loops are compiled for."""

    dense: bool
    pairs: bool


@cache
def compile_play(kind: Kind) -> Callable[..., int]:
    """Return `rounds.play` for rows of a kind."""
    steps = row_kernels(kind)
    growth = compile_growth(pair_sides if kind.pairs else class_sides)
    names = ["list_rows", "sum_root", "total_node", "ask", "divide", "sum_sides", "move"]
    return specialise(
        rounds.play,
        kernel,
        **growth._asdict(),
        **{name: steps[name] for name in names},
        is_full=keeping.is_full,
        sum_counts=keeping.sum_counts,
        keep_edge=keeping.keep_edge,
        begin_move=moves.begin_move,
        end_round=keeping.end_round,
    )


@cache
def row_kernels(kind: Kind) -> dict[str, Callable[..., Any]]:
    """Return the steps of a tree that read rows of a kind."""

    def bind(function: Callable[..., Any], **others: Any) -> Callable[..., Any]:
        return specialise(function, inner_kernel, **others)

    own: Any = pair_rows if kind.pairs else class_rows
    add_rows = own.add_dense if kind.dense else own.add_sparse
    summing = bind(row_steps.sum_node, add_rows=add_rows)
    enter = moves.enter_dense if kind.dense else moves.enter_sparse
    by_column = moves.move_dense_column if kind.dense else moves.move_sparse_column
    moving = (
        bind(moves.move_pairs)
        if kind.pairs
        else bind(
            moves.move_rows,
            move_leaves=bind(moves.move_listed, enter=enter),
            move_column=bind(by_column, enter=enter),
        )
    )
    column = row_steps.dense_column if kind.dense else row_steps.sparse_column
    return {
        "list_rows": bind(row_steps.list_share, weigh_block=own.weigh_block),
        "list_all": bind(row_steps.list_share, weigh_block=own.weigh_nothing),
        "sum_root": bind(row_steps.sum_all, sum_rows=summing),
        "total_node": bind(row_steps.total_node, add_totals=own.add_totals),
        "add_totals": own.add_totals,
        "ask": bind(row_steps.look_up, find_column=column),
        "divide": bind(row_steps.divide_share),
        "sum_sides": bind(row_steps.sum_both, sum_rows=summing),
        "move": moving,
    }


@cache
def compile_scaling() -> Callable[..., Any]:
    """Return `positions.scale_weights` for Python to call."""
    scale: Any = keeping.scale_weights
    plain: Callable[..., Any] = scale.py_func
    return kernel(plain)


@cache
def compile_following(kind: Kind) -> Callable[..., None]:
    """Return `rows.follow` for rows of a kind."""
    steps = row_kernels(kind)
    own = {"list_rows": steps["list_all"], "ask": steps["ask"], "divide": steps["divide"]}
    return specialise(row_steps.follow, kernel, **own)


@cache
def compile_moving(kind: Kind) -> Callable[..., None]:
    """Return `moves.move_all` for rows of a kind."""
    own = {name: row_kernels(kind)[name] for name in ("ask", "move")}
    return specialise(moves.move_all, kernel, **own)


@cache
def compile_writing(kind: Kind) -> Callable[..., None]:
    """Return the loop that writes the votes of leaves."""
    write: Callable[..., None] = (pair_rows if kind.pairs else class_rows).write_votes
    return kernel(write)


@cache
def compile_packing() -> Callable[..., None]:
    """Return `pair_rows.pack`."""
    return kernel(pair_rows.pack)


@cache
def compile_counting(kind: Kind) -> Callable[..., None]:
    """Return the loop that counts rows in the tally."""
    enter: Any = moves.enter_dense if kind.dense else moves.enter_sparse
    plain: Callable[..., None] = enter.py_func
    return kernel(plain)
