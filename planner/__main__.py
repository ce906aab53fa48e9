"""The program ``plan``; ``python -m planner`` is the same."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line, and end with the exit code that fits."""
    from planner.cli.main import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
