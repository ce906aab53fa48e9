"""Claims about versions: they come with the new day in one step, and a kill at any moment loses none."""

from __future__ import annotations

import datetime as dt
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from planner.store.folder import held, replaced
from planner.store.plan_versions import keep_versions, thin_out
from tests.days import names, tree

KILLED = """
import os, signal, sys
from pathlib import Path
from planner.store import folder, plan_versions

target, moment = Path(sys.argv[1]), int(sys.argv[2])
steps = 0

def counted(call):
    def step(*arguments, **options):
        global steps
        steps += 1
        if steps == moment:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*arguments, **options)
    return step

os.link, Path.mkdir, Path.rename, Path.write_text = map(counted, (os.link, Path.mkdir, Path.rename, Path.write_text))
folder._exchange, folder.remove = counted(folder._exchange), counted(folder.remove)
folder.flush = counted(folder.flush)
with folder.held(target), folder.replaced(target) as fresh:
    plan_versions.keep_versions(target, fresh, with_last=True)
    (fresh / "run.json").write_text("{}")
    (fresh / "schedule.csv").write_text("new")
print("done", steps)
"""


def write(target: Path, text: str, run: dict[str, object], *, with_last: bool = True) -> None:
    """Write a day of two files."""
    with held(target), replaced(target) as fresh:
        keep_versions(target, fresh, with_last=with_last)
        (fresh / "run.json").write_text(json.dumps(run))
        (fresh / "schedule.csv").write_text(text)


def texts(target: Path) -> list[str]:
    """What the versions of a day say."""
    return sorted((path / "schedule.csv").read_text() for path in (target / "versions").iterdir())


def test_a_version_is_named_by_when_it_was_planned(tmp_path: Path) -> None:
    day = tmp_path / "2024-06-01"
    began = "2024-06-01T08:00:00+00:00"
    for text, run in (("one", {"began": began}), ("two", {"began": began}), ("three", {}), ("four", {})):
        write(day, text, run)
    assert names(day / "versions") == ["20240601T080000Z", "20240601T080000Z-2", "unknown"]
    assert texts(day) == ["one", "three", "two"]
    assert not (day / "versions" / "unknown" / "versions").exists()


def test_a_day_from_a_snapshot_is_kept_by_every_run(tmp_path: Path) -> None:
    day = tmp_path / "2024-06-01"
    write(day, "plain", {}, with_last=False)
    write(day, "plain again", {}, with_last=False)
    assert names(day) == ["run.json", "schedule.csv"]
    write(day, "happened", {"snapshot": {"moment_unix": 1}})
    write(day, "plain", {}, with_last=False)
    write(day, "more", {}, with_last=False)
    assert texts(day) == ["happened", "plain again"]


@pytest.mark.slow(keep=6)
@pytest.mark.parametrize("moment", range(1, 40))
def test_a_kill_at_any_step_leaves_the_old_day_or_the_new_one(tmp_path: Path, moment: int) -> None:
    day = tmp_path / "2024-06-01"
    write(day, "one", {})
    write(day, "two", {})
    old = tree(day)
    ended = subprocess.run(  # noqa: PLW1510, a kill is expected
        [sys.executable, "-c", KILLED, str(day), str(moment)], capture_output=True, text=True, env=os.environ
    )
    if (day / "schedule.csv").read_text() == "new":
        assert texts(day) == ["one", "two"]
    else:
        assert ended.returncode == -9
        assert tree(day) == old
    write(day, "three", {})
    assert {"one", "two"} <= set(texts(day)) | {(day / "schedule.csv").read_text()}
    assert names(tmp_path) == ["2024-06-01"]


def test_versions_of_old_days_are_thinned_out(tmp_path: Path) -> None:
    """The first stays, beside which the books stand, and the last; younger days and other folders are not touched."""
    for day, count in (("2024-06-01", 4), ("2024-06-02", 1), ("2024-06-03", 3), ("notes-2-3", 3)):
        for number in range(count):
            (tmp_path / day / "versions" / f"v{number}").mkdir(parents=True)
            (tmp_path / day / "versions" / f"v{number}" / "run.json").touch()
    assert thin_out(tmp_path, dt.date(2024, 6, 3)) == 2
    left = sorted(str(each.relative_to(tmp_path)) for each in tmp_path.glob("*/versions/*"))
    assert [each.replace("/versions/", " ") for each in left] == [
        *("2024-06-01 v0", "2024-06-01 v3", "2024-06-02 v0"),
        *(f"{day} v{number}" for day in ("2024-06-03", "notes-2-3") for number in range(3)),
    ]
