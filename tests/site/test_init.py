"""Claims about ``plan init``: a complete site that loads as it is, or nothing at all."""

from __future__ import annotations

import csv
import datetime as dt
from pathlib import Path

import pytest

from planner.errors import InputError, OutputError
from planner.scenario.load import load_scenario
from planner.scenario.reference import schema_keys
from planner.site.init import write_site

DEPLOY = ["alerts.yml", *(f"planner{kind}" for kind in ("-book.service", "-book.timer", ".cron", ".service", ".timer"))]
FILES = [
    "README.md",
    *(f"deploy/{name}" for name in DEPLOY),
    *("jobs/example.csv", "scenarios/site.yaml", "tables/air.csv", "tables/hybrid.csv"),
]


@pytest.fixture
def shipped(tmp_path: Path) -> Path:
    """A shipped folder with small stand-ins for the tables."""
    folder = tmp_path / "shipped"
    (folder / "tables").mkdir(parents=True)
    for name in ("air", "hybrid"):
        (folder / "tables" / f"{name}.csv").write_text(f"{name}\n")
    return folder


def everything(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_new_folder(tmp_path: Path, shipped: Path) -> None:
    """A new site, in folders that need not exist, has exactly the files that are returned."""
    target = tmp_path / "far" / "site"
    assert write_site(target, shipped=shipped) == [target / name for name in FILES]
    assert everything(target) == FILES
    assert [path.name for path in target.parent.iterdir()] == ["site"]
    assert (target / "tables" / "hybrid.csv").read_text() == "hybrid\n"


def test_folder_is_readable(tmp_path: Path, shipped: Path) -> None:
    """The new folder has the permissions of any folder that the user makes."""
    (tmp_path / "usual").mkdir()
    write_site(tmp_path / "site", shipped=shipped)
    assert (tmp_path / "site").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_current_empty_folder(tmp_path: Path, shipped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``plan init .`` fills an empty folder and keeps it, so that a shell in it stays where it is."""
    here = tmp_path / "here"
    here.mkdir()
    before = here.stat().st_ino
    monkeypatch.chdir(here)
    assert write_site(Path(), shipped=shipped) == [Path(name) for name in FILES]
    assert here.stat().st_ino == before
    assert everything(here) == FILES


def test_refuses_what_is_there(tmp_path: Path, shipped: Path) -> None:
    """A folder that holds anything, or a file, is refused in one line and left alone."""
    target = tmp_path / "site"
    target.mkdir()
    (target / "mine").write_text("")
    with pytest.raises(InputError, match=r"site is not empty; name a new or empty folder$"):
        write_site(target, shipped=shipped)
    assert everything(target) == ["mine"]
    with pytest.raises(InputError, match="is a file"):
        write_site(target / "mine", shipped=shipped)


def test_missing_tables(tmp_path: Path, shipped: Path) -> None:
    """Without the shipped tables nothing is written."""
    (shipped / "tables" / "hybrid.csv").unlink()
    with pytest.raises(InputError, match=r"hybrid\.csv is missing"):
        write_site(tmp_path / "site", shipped=shipped)
    assert not (tmp_path / "site").exists()


def test_failure_leaves_nothing(tmp_path: Path, shipped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that fills up half-way leaves no site and no temporary folder."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.copyfile", full)
    with pytest.raises(OutputError, match="No space left on device"):
        write_site(tmp_path / "new" / "site", shipped=shipped)
    assert list((tmp_path / "new").iterdir()) == []


def test_template_loads(tmp_path: Path, shipped: Path) -> None:
    """The written scenario is valid as it is and finds its own files."""
    write_site(tmp_path / "site", shipped=shipped)
    site = load_scenario("site", folders=[tmp_path / "site" / "scenarios"])
    assert site.name == "site"
    assert site.jobs.source == tmp_path / "site" / "jobs" / "example.csv"
    assert site.cooling.table == tmp_path / "site" / "tables" / "air.csv"


def test_template_shows_defaults(tmp_path: Path, shipped: Path) -> None:
    """Every key of the schema is in the template, and the values of optional sections are the defaults."""
    write_site(tmp_path / "site", shipped=shipped)
    text = (tmp_path / "site" / "scenarios" / "site.yaml").read_text()
    words = {word for key in schema_keys() for word in key.replace("[]", "").split(".") if "<" not in word}
    assert [word for word in sorted(words) if f"{word}:" not in text] == []
    site = load_scenario("site", folders=[tmp_path / "site" / "scenarios"])
    for section in (site.power, site.rules, site.demand, site.solar, site.carbon, site.search, site.hold):
        assert section == type(section)()


def test_example_jobs(tmp_path: Path, shipped: Path) -> None:
    """The example is a dozen jobs, submitted on the eve of the README's day, that fit the template's machine."""
    write_site(tmp_path / "site", shipped=shipped)
    site = load_scenario("site", folders=[tmp_path / "site" / "scenarios"])
    node = site.cluster.classes[0]
    with (tmp_path / "site" / "jobs" / "example.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len({row["job_id"] for row in rows}) == len(rows) == 12
    for row in rows:
        submitted = dt.datetime.fromisoformat(row["submit_time"])
        assert submitted.tzinfo is not None
        assert submitted.date() == dt.date(2024, 5, 31)
        assert int(row["units"]) <= node.count
        assert int(row["cores_per_unit"]) <= node.capacity["cores"]
        assert float(row["memory_gb_per_unit"]) <= node.capacity["memory_gb"]
