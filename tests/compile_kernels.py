"""Compiles all kernels before the tests start, as `plan compile` does, and names those that it has forgotten.

python -m tests.compile_kernels
"""

from __future__ import annotations

import sys

from planner.runs.compile_all import compile_all, missing


def main() -> int:
    """Compile, and name the kernels that were forgotten; the tests that need them compile them."""
    compile_all()
    for name in missing():
        print(f"planner/runs/compile_all.py does not call {name}; add what does", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
