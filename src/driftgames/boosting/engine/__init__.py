"""Choose and move: the engine that finds weak hypotheses and moves the examples.

`mistake_engine` owns the arrays of a fit, and `rounds` plays whole rounds on them in one compiled
call. `rows` weighs and divides the rows, `nodes` grows a tree, `split_search` looks for the
question of a node, and `positions` keeps where every example stands.

These are templates. They are compiled for the `sides` of a question, `two_classes` or
`several_classes`, and for the `layout` of the rows, `dense_rows` or `sparse_rows`. `remote_game`
asks the same questions of rows on workers.
"""
