"""What Slurm's words for the state of a job mean: it waits, runs, has ended, or is none of these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

JobState = Literal["pending", "running", "finished", "other"]
ENDED = frozenset(
    {
        "BOOT_FAIL",
        "CANCELLED",
        "COMPLETED",
        "DEADLINE",
        "FAILED",
        "NODE_FAIL",
        "OUT_OF_MEMORY",
        "PREEMPTED",
        "TIMEOUT",
    }
)
HELD = frozenset({"REQUEUE_HOLD", "RESV_DEL_HOLD", "SPECIAL_EXIT"})
"""Wait until somebody releases them."""
# Suspended jobs have given back their cores, others are at another cluster: neither to be planned nor over.
_OTHER = frozenset({"REVOKED", "STAGE_OUT", "SUSPENDED"})
# These hold their nodes, whatever else is said about the job.
_HOLDING = frozenset({"COMPLETING", "RUNNING", "STOPPED"})
# Slurm 22.05 writes one word only, and these instead of RUNNING or PENDING.
_RUNNING = frozenset({"CONFIGURING", "POWER_UP_NODE", "RESIZING", "SIGNALING"})
_PENDING = frozenset({"PENDING", "REQUEUED", "REQUEUE_FED"}) | HELD


def state_words(words: Sequence[str]) -> tuple[str, ...]:
    """Slurm's words in capitals and in order; a text such as ``CANCELLED by 1000`` is its first word."""
    return tuple(sorted({word.split()[0].upper() for word in words if word.strip()}))


def job_state(words: Sequence[str]) -> JobState:
    """The state behind such words; ``other`` also for words that are not known."""
    found = frozenset(words)
    if found & _OTHER:
        return "other"
    if found & _HOLDING:
        return "running"
    if found & ENDED and not found & _PENDING:
        return "finished"
    if found & _PENDING:
        return "pending"
    return "running" if found & _RUNNING else "other"
