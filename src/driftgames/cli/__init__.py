"""The command line: ``driftgames reproduce``, ``boost``, ``hedge`` and the rest.

Every command stands in a file of its own and imports what it needs when it runs.
"""


def main() -> None:
    """Run the command line."""
    from driftgames.cli.app import app

    app()
