"""Choose and move: the engine that finds weak hypotheses and moves the examples.

`mistake_engine` owns the arrays of a fit, and `rounds` plays whole rounds on them in one compiled
call. `rows` weighs and divides the rows, `nodes` grows a tree, `split_search` looks for the
question of a node, and `positions` keeps where every example stands.

These are templates. They are compiled for the `sides` of a question, `two_classes`,
`several_classes` or `thresholds`, and for the `layout` of the rows, `dense_rows` or `sparse_rows`.
`remote_game` asks the same questions of rows on workers.

A letter means the same in all loops: row ``i``, feature ``j``, bin ``b``. ``c`` is the class, or of
a pair whether its label is +1. ``p`` is the share of the rows that a thread has, ``q`` a place in a
list of rows, ``g`` a group of such a list (see `rows`), and ``f`` a fresh leaf. Rows are *listed*
if a share has lists of them; else they are only counted, in the tally of `positions`.
"""
