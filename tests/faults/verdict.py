"""What must hold after a fault: the old or the new result, whole and audited, and a rerun as if undisturbed."""

from __future__ import annotations

from pathlib import Path

from tests.faults.commands import Command, Stage, day_folders, ended, hidden, plan, results, state
from tests.faults.fake_slurm import require_journalled

INDEX = "reports/index.html"


def standing(stage: Stage, command: Command) -> str:
    """Which result stands: ``old``, ``new`` or ``some new`` where a run has written some of its days.

    Fails when a result is a mixture, is cut short, or does not pass the audit.
    """
    found, old, new = state(stage.site), stage.old(command), stage.new(command)
    index = found.pop(INDEX, None)
    assert index is None or index.rstrip().endswith(b"</html>"), "the index is cut short"
    seen = set()
    known_old, known_new = results(old), results(new)
    for place, files in results(found).items():
        if files == known_new.get(place):
            seen.add("same" if files == known_old.get(place) else "new")
        else:
            assert files == known_old.get(place), f"{place} is neither the old result nor the new one"
            seen.add("old")
    lost = [place for place in known_old if place not in results(found) and place != "reports"]
    assert not lost, f"{lost[0]} is gone"
    for folder in day_folders(stage.site):
        audited(stage.site, folder)
    if command.slurm:
        require_journalled(stage.site, {path: told for path, told in old.items() if path.startswith("queue/")})
    if known_old == known_new:
        return "new"
    if {"old", "new"} <= seen or ("new" in seen and results(found).keys() != known_new.keys() - {"reports"}):
        return "some new"
    return "new" if "new" in seen else "old"


def audited(site: Path, folder: Path) -> None:
    """Fails unless ``plan audit`` says that a day is clean."""
    code, told = ended(site, ("audit", str(folder.relative_to(site))))
    assert code == 0, told


def require_recovery(stage: Stage, command: Command) -> None:
    """Fails unless a rerun ends well, leaves the bytes of an undisturbed run, and nothing else."""
    if not command.once or standing(stage, command) != "new":
        plan(stage.site, command.words)
    found, new = state(stage.site), stage.new(command)
    assert found.keys() == new.keys(), f"after the rerun: {sorted(found.keys() ^ new.keys())}"
    other = [path for path in found if found[path] != new[path]]
    assert not other, f"after the rerun {other[0]} has other bytes than without the fault"
    for folder in day_folders(stage.site):
        audited(stage.site, folder)
    left = hidden(stage.site)
    assert not left, f"left behind: {left}"
