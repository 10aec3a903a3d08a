"""``python -m driftgames``: the command line."""

from driftgames.cli import main

if __name__ == "__main__":
    main()
