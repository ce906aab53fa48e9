"""The file of learned power: it reads back as it was, says where it came from, and damage is one clear line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planner.errors import FileFormatError, InputError, OutputError
from planner.inputs.books.measured_power import Finished
from planner.inputs.jobs.power_models import LearnedFile, read_learned_power
from planner.runs.power_sources import learned_file, write_learned_power
from planner.store import folder
from planner.store.provenance import hashes
from tests.finished_jobs import finished


def made(tmp_path: Path, watts: float = 40.0) -> tuple[LearnedFile, Path]:
    """A file of two jobs, with its path."""
    source = tmp_path / "finished.csv"
    source.write_text("abc", encoding="utf-8")
    jobs = (finished(0, 10, watts, "1", user="Zoë", name='a "b"\n'), finished(5, 20, 70.0, "2", user="x"))
    file = learned_file(Finished(jobs, {"no power was measured": 3}), hashes([source]), "2024-06-01T00:00:00+00:00")  # type: ignore[arg-type]
    path = tmp_path / "power.json"
    write_learned_power(file, path)
    return file, path


def test_it_reads_back_as_it_was(tmp_path: Path) -> None:
    """Groups to the last digit, and all of the provenance."""
    file, path = made(tmp_path, 100 / 3)
    assert read_learned_power(path) == file


def test_it_says_where_it_came_from(tmp_path: Path) -> None:
    """People find the sources with their SHA-256 (that of "abc" is known), jobs, time span, and who made it when."""
    _, path = made(tmp_path)
    content = json.loads(path.read_text(encoding="utf-8"))
    assert content["sources"] == {
        str(tmp_path / "finished.csv"): "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    }
    assert (content["jobs"], content["first_end"], content["last_end"]) == (
        2,
        "1970-01-01T00:00:10Z",
        "1970-01-01T00:00:20Z",
    )
    assert content["left_out"] == {"no power was measured": 3}
    assert content["made"] == "2024-06-01T00:00:00+00:00"
    assert content["planner"]


def changed(key: str, value: Any) -> Callable[[dict[str, Any]], Any]:
    """A damage that sets one key."""
    return lambda content: content | {key: value}


def regrouped(level: int, row: list[Any]) -> Callable[[dict[str, Any]], Any]:
    """A damage that adds a group to a level."""

    def damage(content: dict[str, Any]) -> Any:
        content["levels"][level]["groups"].append(row)
        return content

    return damage


DAMAGES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "is no file of learned power": lambda _: [1],
    "no file of learned power": changed("what", "else"),
    "has format 2, expected 1": changed("format", 2),
    "decay is 2": changed("decay", 2),
    "decay is nan": changed("decay", float("nan")),
    "jobs is 'two'": changed("jobs", "two"),
    "last_end_unix is None": changed("last_end_unix", None),
    "levels is missing": lambda content: {k: v for k, v in content.items() if k != "levels"},
    "must have 8 levels": changed("levels", []),
    "is damaged": changed("sources", 3),
    "level 1 must have the columns": lambda content: content | {"levels": content["levels"][::-1]},
    "a group of level 8": regrouped(7, ["4", 1.0, 1.0]),
    "w_per_core is -1": regrouped(7, ["5", -1, 1.0, 1]),
    "weight is 0": regrouped(7, ["5", 1.0, 0, 1]),
    "jobs is 1.5": regrouped(7, ["5", 1.0, 1.0, 1.5]),
    "has a group twice": regrouped(7, ["4", 1.0, 1.0, 1]),
}


@pytest.mark.parametrize("expected", DAMAGES)
def test_damage_is_named(tmp_path: Path, expected: str) -> None:
    """Whatever is wrong, one line names the file, the problem and the remedy."""
    _, path = made(tmp_path)
    content = DAMAGES[expected](json.loads(path.read_text(encoding="utf-8")))
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(FileFormatError) as caught:
        read_learned_power(path)
    text = str(caught.value)
    assert text.startswith(str(path))
    assert expected in text
    assert text.endswith("make it again with plan power learn")


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"{", b"[" * 100_000, b"null"])
def test_what_is_no_json_is_named(tmp_path: Path, content: bytes) -> None:
    """Neither cut files nor other bytes are more than one line."""
    path = tmp_path / "power.json"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match="make it again with plan power learn"):
        read_learned_power(path)


def test_every_cut_is_noticed(tmp_path: Path) -> None:
    """A file that lost its end, wherever, is not read."""
    _, path = made(tmp_path)
    whole = path.read_bytes()
    for length in range(0, len(whole.rstrip()), 7):
        path.write_bytes(whole[:length])
        with pytest.raises(FileFormatError):
            read_learned_power(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """No such file is the user's to fix."""
    with pytest.raises(InputError, match="no such file"):
        read_learned_power(tmp_path / "power.json")


def test_a_failed_write_leaves_the_earlier_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk while the file is written is an OutputError, and nothing is lost or left."""
    _, path = made(tmp_path)
    before = path.read_bytes()

    def full(path: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(folder, "flush", full)
    with pytest.raises(OutputError, match="No space left"):
        made(tmp_path, 99.0)
    assert path.read_bytes() == before
    assert sorted(each.name for each in tmp_path.iterdir()) == ["finished.csv", "power.json"]


def test_a_folder_in_the_way_is_named(tmp_path: Path) -> None:
    """A folder cannot be replaced by a file."""
    file, _ = made(tmp_path)
    with pytest.raises(OutputError, match="is a folder"):
        write_learned_power(file, tmp_path)
