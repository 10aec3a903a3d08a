"""Choose and move: the engine that finds weak hypotheses and moves the examples."""
