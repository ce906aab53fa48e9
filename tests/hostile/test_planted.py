"""Claims about what others planted: a forged cache, links and pipes in the place of locks, names that are formulas."""

from __future__ import annotations

import csv
import errno
import fcntl
import hashlib
import os
import pickle
import re
import stat
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

from planner import places
from planner.compiled import kernel
from planner.compiled.code_cache import _name
from planner.errors import OutputError
from planner.store import folder as subject
from planner.store.cost_files import csv_bytes
from planner.store.folder import held, replaced
from tests.days import BRIEF, DAY, JOBS, names, plan, write_small_site
from tests.faults.commands import TABLES, path_of
from tests.faults.fake_slurm import write_slurm_site

NOBODY = 65534


@pytest.fixture(autouse=True)
def fresh_places() -> None:
    """Where compiled code is kept is looked up anew."""
    places.kept_folder.cache_clear()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that NUMBA_CACHE_DIR names, with a home beside it."""
    (tmp_path / "home").mkdir()
    for name, place in (("NUMBA_CACHE_DIR", "cache"), ("HOME", "home")):
        monkeypatch.setenv(name, str(tmp_path / place))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    return tmp_path / "cache"


def kept_in(tmp_path: Path) -> str | None:
    """Which of the two folders compiled code is kept in."""
    places.kept_folder.cache_clear()
    found = places.kept_folder(tmp_path)
    places.kept_folder.cache_clear()
    return None if found is None else found.relative_to(tmp_path).parts[0]


def test_a_cache_is_used_only_if_it_is_ours(
    tmp_path: Path, cache: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not where others can write, not by a link, not one of somebody else: then the one at home is, in one line."""
    assert kept_in(tmp_path) == "cache"
    assert {stat.S_IMODE(path.stat().st_mode) for path in (cache / "hpc-day-planner").rglob("")} == {0o700}
    (cache / "hpc-day-planner").chmod(0o755)  # as earlier versions made it
    assert kept_in(tmp_path) == "cache"
    assert stat.S_IMODE((cache / "hpc-day-planner").stat().st_mode) == 0o700
    assert capsys.readouterr().err == ""

    def require_refused(reason: str) -> None:
        assert kept_in(tmp_path) == "home"
        told = capsys.readouterr().err
        assert reason in told
        assert told.count("\n") == 1

    for folder in (cache, cache / "hpc-day-planner"):
        folder.chmod(0o777)
        require_refused("others can write to it")
        folder.chmod(0o700)
        if os.geteuid() == 0:
            os.chown(folder, NOBODY, NOBODY)
            require_refused("it belongs to another user")
            os.chown(folder, 0, 0)
        folder.rename(tmp_path / "moved")
        folder.symlink_to(tmp_path / "moved")
        require_refused("it is a link")
        folder.unlink()
        (tmp_path / "moved").rename(folder)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NUMBA_CACHE_DIR", "cache")
    require_refused("it is not named from the root on")


class Bomb:
    """What runs a command when it is unpickled."""

    def __init__(self, sentinel: Path) -> None:
        self.sentinel = sentinel

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.sentinel),)


def doubled(values):
    """Twice the sum."""
    return 2 * values.sum()


@pytest.mark.parametrize("forged_by", ["a link", "others", "anybody"])
def test_forged_code_is_not_run(tmp_path: Path, cache: Path, forged_by: str) -> None:
    """A sealed file that is a link, belongs to another user or could be written by all is compiled anew."""
    if forged_by == "others" and os.geteuid() != 0:
        pytest.skip("only root can make a file of another user")
    assert kernel(doubled)(np.arange(3)) == 6
    (kept,) = cache.rglob(f"{_name(doubled)}*.nbc")
    content = pickle.dumps(Bomb(tmp_path / "fired"))
    forged = content + hashlib.sha256(f"{kept.name} {numba.__version__} ".encode() + content).digest()
    kept.write_bytes(forged)
    kernel(doubled)(np.arange(3))
    assert (tmp_path / "fired").is_dir()  # the forgery works on a file of ours
    (tmp_path / "fired").rmdir()
    kept.write_bytes(forged)
    if forged_by == "a link":
        kept.rename(tmp_path / "elsewhere")
        kept.symlink_to(tmp_path / "elsewhere")
    elif forged_by == "others":
        os.chown(kept, NOBODY, NOBODY)
    else:
        kept.chmod(0o666)
    assert kernel(doubled)(np.arange(3)) == 6
    assert not (tmp_path / "fired").exists()


def test_a_lock_is_a_plain_file_of_its_own(tmp_path: Path) -> None:
    """A link, a pipe, a folder or a further name in the place of a lock is refused, and nothing behind it changes."""
    precious, lock = tmp_path / "precious", tmp_path / "out" / ".day.lock"
    precious.write_text("mine")
    lock.parent.mkdir()
    for plant in (
        lambda: lock.symlink_to(precious),
        lambda: lock.symlink_to(tmp_path / "nothing"),
        lambda: os.link(precious, lock),
        lambda: os.mkfifo(lock),
        lock.mkdir,
    ):
        plant()
        with pytest.raises(OutputError, match="stands where a lock should"), held(tmp_path / "out" / "day"):
            pass
        with held(tmp_path / "out" / "other"):  # tidies up beside it
            pass
        assert names(lock.parent) == [".day.lock"]
        assert precious.read_text() == "mine"
        assert not (tmp_path / "nothing").exists()
        lock.rmdir() if lock.is_dir() and not lock.is_symlink() else lock.unlink()


def test_links_in_the_place_of_begun_files(tmp_path: Path) -> None:
    """What is begun is made anew, never written through a link that was there."""
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (tmp_path / f".file.new-{os.getpid()}").symlink_to(precious)
    subject.put(tmp_path / "file", b"new")
    (tmp_path / f".day.new-{os.getpid()}").symlink_to(tmp_path)
    with pytest.raises(OutputError), replaced(tmp_path / "day") as fresh:
        (fresh / "precious").write_text("theirs")
    assert precious.read_text() == "mine"


def test_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the disk has no locks, one line says what to do, and nothing is left."""

    def flock(handle: int, how: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", flock)
    match = "cannot lock .*: No locks available; its disk must have locks"
    with pytest.raises(OutputError, match=match), held(tmp_path / "made" / "day"):
        pass
    with pytest.raises(OutputError, match=match), subject.alone_in(tmp_path):
        pass
    assert names(tmp_path) == []


ODD = (
    "=cmd|'/C calc'!A0",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "＝1",
    " =1",
    "'=1",
    "'plain",
    "",
    "a;=1",
    "a; +1",
    "a\t@b",
    "a;'b",
)


def test_no_cell_of_a_cost_report_is_a_formula() -> None:
    """Text that a spreadsheet would work out has an apostrophe before it, and one taken away gives the text again.

    Some part cells by semicolons or tabs: what follows one within a text is safe, too.
    """
    told = csv_bytes([{"account": name, "jobs": 1} for name in (*ODD, "physics", "a=b")]).decode()
    found = [row["account"] for row in csv.DictReader(told.splitlines(keepends=True))]
    assert found[-2:] == ["physics", "a=b"]
    parts = [part for cell in found for part in (cell, *re.split(r"[;\t]", cell))]
    assert not [part for part in parts if part.lstrip(" ")[:1] in tuple("=+-@\t\r\n＝＋－＠")]
    assert [re.sub(r"(^|[;\t])'", r"\1", cell) for cell in found[:-2]] == list(ODD)


def test_cost_reports_are_safe_and_tables_exact(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The CSV that finance opens has the safe text; the schedule and the Parquet have what was asked."""
    write_small_site(tmp_path, jobs=JOBS.replace("physics", ODD[0]))
    monkeypatch.chdir(tmp_path)
    plan("--day", DAY, "-m", "est", "--bound-time", "0", "-q", *BRIEF)
    plan("report", "--day", DAY, "--by", "account")
    (safe,) = Path("reports").rglob("*account*.csv")
    assert f"'{ODD[0]}" in safe.read_text()
    assert f",{ODD[0]}," in (Path("reports/site") / DAY / "schedule.csv").read_text()


UMASKED = "from planner.__main__ import main; main()"


def test_the_mode_of_what_is_written(tmp_path: Path) -> None:
    """PLAN_UMASK takes rights from others on all that is written; what is no umask is refused in one line."""
    write_small_site(tmp_path)
    words = [sys.executable, "-c", UMASKED, "--day", DAY, "-m", "est", "--bound-time", "0", "-q", *BRIEF]
    for umask in ("8", "-1", "1000", "x", ""):
        done = subprocess.run(
            words, cwd=tmp_path, env={**os.environ, "PLAN_UMASK": umask}, capture_output=True, check=False
        )
        assert done.returncode == 2
        assert done.stderr.count(b"\n") == 1
    subprocess.run(words, cwd=tmp_path, env={**os.environ, "PLAN_UMASK": "027"}, check=True)
    written = list((tmp_path / "reports").rglob("*"))
    assert {stat.S_IMODE(path.stat().st_mode) for path in written if path.is_file()} == {0o640}
    assert {stat.S_IMODE(path.stat().st_mode) for path in written if path.is_dir()} == {0o750}


def test_state_files_are_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What Slurm said and what was learned of users is for us alone, whatever the umask."""
    write_small_site(tmp_path)
    write_slurm_site(tmp_path)
    (tmp_path / "finished.csv").write_text(TABLES["finished.csv"])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", path_of(tmp_path))
    plan("slurm", "snapshot", "--out", "saved")
    plan("power", "learn", "--from", "finished.csv", "--out", "power.json", "-q")
    private = [*(tmp_path / "saved").iterdir(), tmp_path / "power.json"]
    assert len(private) > 3
    assert {stat.S_IMODE(path.stat().st_mode) for path in private} == {0o600}
