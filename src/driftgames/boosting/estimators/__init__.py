"""The boosters: each says how it weighs the examples and what it promises."""
