"""An independent check of a replay: no node over-used, nobody early; it shares no code with the kernels."""

from __future__ import annotations

import numpy as np

from planner.errors import AuditError
from planner.online.replay import Replay


def violations(replay: Replay) -> list[str]:
    """Every broken rule of a replay; none is the only good answer."""
    trace = replay.trace
    found = [
        f"job {trace.ids[job]} starts at {replay.start_s[job]} s, submitted at {trace.submit_s[job]} s"
        for job in np.flatnonzero(replay.start_s < trace.submit_s)
    ]
    nodes = len(trace.machine.capacity)
    off = np.flatnonzero((replay.node_of_unit < 0) | (replay.node_of_unit >= nodes))
    if len(off):
        found.append(f"{len(off)} units are on no node of {nodes}")
    if found:
        return found
    unit_job = np.repeat(np.arange(len(trace)), np.diff(trace.unit_ptr))
    unit_group = np.repeat(np.arange(len(trace.group_count)), trace.group_count)
    rows = np.concatenate([replay.node_of_unit, replay.node_of_unit])
    moments = np.concatenate([replay.start_s[unit_job], replay.end_s[unit_job]])
    amounts = trace.group_amount[unit_group]
    found += _overused(rows, moments, np.concatenate([amounts, -amounts]), trace.machine.capacity, "node")
    if trace.machine.power_limit >= 0:
        moments = np.concatenate([replay.start_s, replay.end_s])
        drawn = np.concatenate([trace.power_mw, -trace.power_mw])[:, None]
        limit = np.array([[trace.machine.power_limit]])
        found += _overused(np.zeros(len(moments), dtype=np.int64), moments, drawn, limit, "the site's power, row")
    return found


def require_sound(replay: Replay) -> None:
    """Raise AuditError with what is wrong with a replay, if anything is."""
    found = violations(replay)
    if found:
        more = f" (+{len(found) - 3} more)" if len(found) > 3 else ""
        raise AuditError(
            f"the replay under {replay.policy.name} breaks {len(found)} rules: {'; '.join(found[:3])}{more}"
        )


def _overused(
    rows: np.ndarray[tuple[int], np.dtype[np.int64]],
    moments: np.ndarray[tuple[int], np.dtype[np.int64]],
    changes: np.ndarray[tuple[int, ...], np.dtype[np.int64]],
    capacity: np.ndarray[tuple[int, ...], np.dtype[np.int64]],
    what: str,
) -> list[str]:
    """Where the running sum of changes passes the capacity of a row."""
    order = np.lexsort((moments, rows))
    rows, moments, changes = rows[order], moments[order], changes[order]
    # what each row takes, it gives back, so that one running sum serves all rows
    used = np.cumsum(changes, axis=0)
    settled = np.append((rows[1:] != rows[:-1]) | (moments[1:] != moments[:-1]), True)
    bad = np.flatnonzero(settled & np.any(used > capacity[rows], axis=1))
    return [f"{what} {rows[k]} is over-used at {moments[k]} s" for k in bad]
