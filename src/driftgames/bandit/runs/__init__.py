"""Whole games: environments that make losses, the replay of their rounds, and the result.

A replay plays blocks of rounds in an engine, with losses at once or late, and records what was
drawn and paid.
"""
