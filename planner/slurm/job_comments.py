"""What users read in the comments of their held jobs: until when, why, and by when they start at the latest."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from zoneinfo import ZoneInfo

from planner.domain.result import Hold
from planner.inputs.slurm.queue import Queue
from planner.slurm.choose_changes import JOB_ID

ATTRIBUTES = {"admin_comment": "AdminComment", "comment": "Comment"}

# Without spaces, so that it needs no quotes; it stands behind what the comment says already:
# flexible;held-until=2026-11-17T22:00+01:00;at-the-latest=2026-11-18T02:24+01:00;why=cheaper-electricity
OURS = re.compile(r";?held-until=[^;\s]*;at-the-latest=[^;\s]*;why=cheaper-electricity")

PLAIN = re.compile(r"[A-Za-z0-9_=;:,./+@%-]*")
"""Comments that can be sent as they are; others are left as they are."""


def text_of(hold: Hold, zone: str) -> str:
    """What a comment says of a hold."""
    until, latest = (_moment(unix, zone) for unix in (hold.until_unix, hold.latest_unix))
    return f"held-until={until};at-the-latest={latest};why=cheaper-electricity"


def _moment(unix: int, zone: str) -> str:
    return dt.datetime.fromtimestamp(unix, ZoneInfo(zone)).isoformat(timespec="minutes")


def comment_updates(queue: Queue, holds: Mapping[str, Hold], where: str, zone: str) -> list[str]:
    """The lines for scontrol after which held jobs say so, and no other job does.

    ``holds`` has those of the records that are held from now on. A comment with characters that a command line could
    take for something else is left as it is.
    """
    if where not in ATTRIBUTES:
        return []
    lines = []
    for job in queue.records:
        if job.state not in ("pending", "running"):
            continue
        present = job.admin_comment if where == "admin_comment" else job.comment
        hold = holds.get(job.record) or holds.get(job.array) if job.is_pending else None
        own = OURS.sub("", present)
        wanted = own if hold is None else ";".join(each for each in (own, text_of(hold, zone)) if each)
        if wanted != present and PLAIN.fullmatch(wanted) and JOB_ID.fullmatch(job.record):
            lines.append(f"update JobId={job.record} {ATTRIBUTES[where]}={wanted}\n")
    return lines


def why_untold(said: str, where: str) -> str:
    """Why users are not told, by what Slurm said about their comments; empty where it took them."""
    denied = next((line.strip() for line in said.splitlines() if "denied" in line or "Invalid user id" in line), "")
    remedy = "set slurm.tell to comment or nobody, or plan as an administrator of Slurm"
    return f"users are not told in their job's {where}: {denied}; {remedy}" if denied else ""
