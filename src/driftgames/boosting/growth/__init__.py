"""Choose and move: the engine that finds weak hypotheses and moves the examples.

`rounds` plays whole rounds in one compiled call, on arrays that `engine` owns. `split_search` looks
for the question of a node, `nodes` grows a tree, `rows` divides the rows, `positions` keeps where
every example stands, and `moves` changes that. `compiled_steps` makes loops for two classes and
several, dense and sparse rows, of one source. `mistake_engine` knows rows by their numbers of
mistakes. `shares` answer the same questions for rows on workers.
"""
