"""The command line is built once for each app, as in a process of its own, not for each call."""

from functools import cache

from typer import testing

testing._get_command = cache(testing._get_command)
