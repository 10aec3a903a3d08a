"""One pull at a time: arms by name, losses in units, pulls that wait for their loss.

`pulling` is what policies with and without contexts share: it draws with an engine, and it saves
and restores the state.
"""
