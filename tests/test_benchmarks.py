"""Benchmarks are run by hand: here, that each can be loaded and finds what it imports."""

from __future__ import annotations

import gzip
import importlib
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent.parent / "benchmarks"


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.py")))
def test_a_benchmark_can_be_loaded(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that it imports has been moved or renamed."""
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.delitem(sys.modules, name, raising=False)
    assert importlib.import_module(name).__doc__


def test_first_jobs_of_a_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A replay of the log with a job before all others gives that job, with its user's group; another log's none."""
    monkeypatch.syspath_prepend(str(FOLDER))
    tool = importlib.import_module("first_jobs")
    header, own = "; MaxProcs: 128\n", "11 900 5 100 4 90 -1 4 60 -1 5 7 75 18 3 -1 -1 -1\n"
    replayed = "11 900 0 60 4 -1 -1 4 60 -1 -1 7 -1 -1 -1 -1 -1 -1\n2 300 9 50 8 -1 -1 8 80 -1 -1 7 -1 -1 -1 -1 -1 -1\n"
    log, replay, out = (tmp_path / name for name in ("SP2-cln.swf.gz", "replay.swf.gz", "SP2-first-jobs.swf.gz"))

    def made(of_log: str, of_replay: str) -> str:
        out.unlink(missing_ok=True)
        for path, text in ((log, of_log), (replay, of_replay)):
            path.write_bytes(gzip.compress((header + text).encode()))
        monkeypatch.setattr(sys, "argv", ["first_jobs.py", str(log), str(replay)])
        tool.main()
        return gzip.decompress(out.read_bytes()).decode()

    found = made(own, replayed).splitlines()
    assert found[1:] == ["2 300 -1 50 8 -1 -1 8 80 -1 1 7 75 -1 -1 -1 -1 -1", own.strip()]
    for other in (own.replace(" 900 ", " 901 "), own.replace(" 7 75", " 8 75"), own.replace("11 ", "12 ")):
        with pytest.raises(SystemExit):
            made(other, replayed)
        assert not out.exists()
    with pytest.raises(SystemExit, match="nothing to add"):
        made(own, replayed.replace("2 300", "2 900"))
