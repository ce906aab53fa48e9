"""What the pieces of the study are made from: its code."""

from __future__ import annotations

from planner.studies.kept import IDLE_ROOMS, code_mark

MAKERS = ("made_from", "sites", "moved_years", "static_plans", "replays", "settled")
"""Modules of the study that can change a piece; the others only choose and show."""


def code() -> str:
    """A mark of the code that can change a piece."""
    return code_mark(tuple(f"operation/{name}" for name in MAKERS), (*IDLE_ROOMS, "cp"))
