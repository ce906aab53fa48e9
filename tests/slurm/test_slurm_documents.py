"""The commands of the documents about Slurm, typed on a real one with the documents' own site file."""

from __future__ import annotations

import re
import shlex
import shutil
import textwrap
import time
from pathlib import Path

import pytest

from planner.cli.main import run
from planner.places import shipped_folder
from planner.site.init import write_site
from tests.doc_commands import ROOT, commands, inline_commands
from tests.inputs.test_weather_typical import _epw as write_epw
from tests.slurm.cluster import ACCOUNTING, SEARCH, Cluster, until, why_not

HOUR = 3600
SITE = re.compile(r"^    # scenarios/site\.yaml\n((?:    .*\n)+)", re.MULTILINE)
CRON = re.compile(
    r"^[\d*/]+ [\d*/]+ \* \* \*\s+planner\s+cd /srv/planner && (?:set -o pipefail && )?\.venv/bin/(plan [^|\n]*)",
    re.MULTILINE,
)
TABLES = re.compile(
    r"queue\.csv|now\.csv|ran\.csv|finished\.csv|--help"
    r"|plan (?:--day|run|compare|simulate|slurm|book|init|now|slurm \w+)$"
)
"""Commands in sentences that are about tables, or only named; tests/test_document_commands.py knows them."""


@pytest.fixture
def site(empty_cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new site whose scenario is that of docs/slurm.md, with the files that it names, and a job of now."""
    if why_not(ACCOUNTING):
        pytest.skip(f"no accounting: {why_not(ACCOUNTING)}")
    base = tmp_path / "srv"
    write_site(base, shipped=shipped_folder())
    (found,) = SITE.findall((ROOT / "docs" / "slurm.md").read_text("utf-8"))
    (base / "scenarios" / "site.yaml").write_text(textwrap.dedent(found), encoding="utf-8")
    write_epw(base / "scenarios" / "weather.epw")
    first = int(time.time()) // HOUR * HOUR - 96 * HOUR
    rows = [
        f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(first + k * HOUR))},{40 + k % 24 * 5}" for k in range(120)
    ]
    (base / "scenarios" / "prices.csv").write_text("\n".join(["time,price", *rows]) + "\n", encoding="utf-8")
    monkeypatch.chdir(base)
    monkeypatch.setenv("PATH", SEARCH)
    monkeypatch.setenv("SLURM_CONF", str(empty_cluster.conf))
    return base


def typed(job: str) -> list[str]:
    """Every command of the documents that asks Slurm, in their order, with the names of what is here."""
    found: list[str] = []
    for name in ("slurm", "slurm-apply", "every-night", "snapshots"):
        path = ROOT / "docs" / f"{name}.md"
        found += [each for each in commands(path) if each.startswith("plan ")]
        found += [each for each in inline_commands(path) if not TABLES.search(each)]
    found += CRON.findall((ROOT / "planner/site/templates/deploy/planner.cron").read_text("utf-8"))
    day = sorted(Path("reports/site").glob("2*"))[-1].name
    return [re.sub(r"2024-06-01|\bDAY\b", day, each).replace("4711", job) for each in dict.fromkeys(found)]


@pytest.mark.slow
def test_every_command_runs(site: Path, empty_cluster: Cluster, capfd: pytest.CaptureFixture[str]) -> None:
    """On a site with a job that waits, one that runs, and one that has ended; yesterday's books are empty."""
    ended = empty_cluster.submit("--ntasks=4", sleep_s=1)
    until(lambda: "COMPLETED" in empty_cluster.command("sacct", "-n", f"-j{ended}", "-oState"), "a job to end")
    empty_cluster.submit("--ntasks=8")
    job = empty_cluster.submit("--begin=now+20minutes", "--ntasks=4", "--time=30")
    assert run(["now", "--bound-time", "0"]) == 0
    seen = typed(job)
    assert len(seen) >= 14
    for command in seen:
        words = shlex.split(command)[1:]
        if "--out" in words and (place := Path(words[words.index("--out") + 1])).is_dir():
            shutil.rmtree(place)
        quick = ["--bound-time", "0"] if words[0] == "now" and "--bound-time" not in words else []
        code = run([*words, *quick])
        told = capfd.readouterr()
        if command.startswith("plan power learn"):
            # No job of this cluster has ended before today, and none has energy: tests/cli/test_power_from_accounts.py
            assert (code, "none has ended on the whole days" in told.err) == (2, True)
            continue
        assert code == 0, f"{command}: exit code {code}\n{told.err}"
