"""Choose and move: the engine that finds weak hypotheses and moves the examples.

`rounds` plays whole rounds in one compiled call, on arrays that `engine` owns. `split_search` looks
for the question of a node, `nodes` grows a tree, `rows` divides the rows, and `positions` keeps
where every example stands. Two classes and several, dense and sparse rows are compiled from one
source. `shares` answer the same questions for rows on workers.
"""
