"""Claims about the fidelity ledger: it lists every cell of the papers, and says what the files of the studies say."""

from __future__ import annotations

import gzip
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from planner.cli.main import run
from planner.studies.all_studies import CALLS, KTH, SP2, SP2_WHOLE, AllStudies
from planner.studies.fidelity import STATUSES, Cell, LedgerStudy, counts_of, ledger_cells, text_of, unlisted
from tests.days import refused, rows_of

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "fidelity.md"
KEPT = ROOT / "reports" / "studies"


@pytest.fixture(scope="module")
def ledger() -> list[Cell]:
    """The ledger of the files that are kept."""
    return ledger_cells(KEPT)


def test_every_cell_of_the_papers_is_listed(ledger: list[Cell]) -> None:
    """As many cells as each table has rows and columns; one that is left out is told, and so is one too many."""
    assert unlisted(ledger) == []
    assert sum((cell.paper, cell.place) == ("metrics", "Table II") for cell in ledger) == 10 * 4 * 2 * 6
    first = next(cell for cell in ledger if cell.place == "Table II")
    assert unlisted([cell for cell in ledger if cell is not first]) == [
        "metrics, Table II: 479 cells are listed of 480"
    ]
    assert unlisted([*ledger, replace(first, place="Table V")]) == ["metrics, Table V: 1 cells are listed of 0"]
    assert len({(cell.paper, cell.place, cell.row, cell.column) for cell in ledger}) == len(ledger)


def test_the_document_says_what_the_studies_found(ledger: list[Cell], tmp_path: Path) -> None:
    """Its tables are those that `plan study fidelity --markdown` prints of the files that are kept."""
    made = LedgerStudy(out=KEPT.parent).report([]).markdown("fidelity")
    assert made.strip() in DOCUMENT.read_text("utf-8"), "make docs/fidelity.md anew: plan study fidelity --markdown"
    told = rows_of(KEPT / "fidelity" / "fidelity.csv")
    assert [row["status"] for row in told] == [cell.status for cell in ledger]


def test_what_is_not_met_has_its_reason(ledger: list[Cell]) -> None:
    without = [cell for cell in ledger if cell.status in ("missed", "no data", "not run") and not cell.why]
    assert [f"{cell.paper}, {cell.place}: {cell.row}, {cell.column}" for cell in without] == []


def test_counts_are_of_all_cells(ledger: list[Cell]) -> None:
    *papers, every = counts_of(ledger)
    for row in (*papers, every):
        assert sum(row[status] for status in STATUSES) == row["cells"]
    assert every["cells"] == len(ledger) == sum(row["cells"] for row in papers)


@pytest.mark.parametrize(
    ("published", "sense", "ours", "status"),
    [
        ("7", "equal", 7.49, "met"),
        ("7", "equal", 7.51, "missed"),
        ("7", "lower", 6.4, "better"),
        ("7", "lower", 7.6, "missed"),
        ("7.71", "higher", 10.4, "better"),
        ("7.71", "higher", 7.7, "missed"),
        ("2.3e-7", "equal", 2.34e-7, "met"),
        ("2.3e-7", "equal", 2.36e-7, "missed"),
        ("0.5", "at most", 0.49, "met"),
        ("0.5", "at most", 0.51, "missed"),
        ("50", "at least", 50.0, "met"),
        ("7", "equal", None, "not run"),
        ("", "equal", 7.0, "unread"),
        ("0", "base", None, "base"),
        ("", "drawn", None, "not run"),
    ],
)
def test_what_a_cell_is(published: str, sense: str, ours: float | None, status: str) -> None:
    cell = Cell("paper", "Table 1", "row", "column", published, sense=sense, ours=ours)
    assert cell.status == status
    if ours is None and status == "not run":
        assert replace(cell, absent="a log").status == "no data"


def test_a_cell_in_words() -> None:
    cell = Cell("paper", "Table 1", "row", "column", "7", ours=9.26)
    assert text_of(cell) == "7 (9.3) missed by 2.3"
    assert text_of(replace(cell, ours=7.0)) == "7 (7)"
    assert text_of(replace(cell, ours=None)) == "7 (not run)"
    assert text_of(replace(cell, ours=None, absent="jobs", elsewhere=3.14)) == "7 (no data; with others 3.1)"


def test_a_file_of_a_study_decides(tmp_path: Path) -> None:
    """BSLD of EASY on KTH-SP2, published +7 %, is met with +7.2 and missed with +8."""
    folder = tmp_path / "metrics-policies"
    folder.mkdir()
    for ours, status in ((7.2, "met"), (8.0, "missed")):
        (folder / "published.csv").write_text(
            f"table,trace,policy,estimate,metric,ours\nII,KTH-SP2-filtered,easy,actual,bsld,{ours}\n"
        )
        (cell,) = [
            cell
            for cell in ledger_cells(tmp_path)
            if (cell.place, cell.row, cell.column) == ("Table II", "bsld easy", "KTH-SP2, actual")
        ]
        assert (cell.ours, cell.status) == (ours, status)


def test_a_slice_of_all_studies(planner_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A data folder with the first jobs of one log: what needs others is told, the rest is made, and then kept."""
    data = tmp_path / "data"
    (data / "swf").mkdir(parents=True)
    with gzip.open(planner_data / KTH, "rt") as log, gzip.open(data / KTH, "wt") as part:
        part.writelines(islice(log, 400))
    command = ["study", "all", "--data", str(data), "--out", str(tmp_path)]
    assert run([*command, "--quick", "--only", "logs,metrics-policies,deadlines-published"]) == 0
    said = capsys.readouterr().out
    assert "deadlines-published: not here: SDSC-BLUE-2000-4.2-cln.swf.gz, HPC2N" in said
    folder = tmp_path / "quick" / "studies"
    assert f"metrics-policies: {folder / 'metrics-policies'}" in said
    assert len(rows_of(folder / "metrics-policies" / "metrics.csv")) == 20
    assert not (tmp_path / "studies").exists()
    pieces = {path: path.stat().st_mtime_ns for path in folder.rglob("pieces/*/*")}
    assert run([*command, "--quick", "--only", "logs,metrics-policies"]) == 0
    assert pieces == {path: path.stat().st_mtime_ns for path in folder.rglob("pieces/*/*")}
    assert run([*command, "--only", "logs"]) == 0
    assert len(rows_of(tmp_path / "studies" / "fidelity" / "fidelity.csv")) == len(ledger_cells(tmp_path))
    assert "unknown study 'mine'; known: logs" in refused(capsys, "study", "all", "--only", "mine")


def test_the_whole_log_stands_for_the_cleaned_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """SDSC-SP2 with its first jobs is taken where it is in the folder; where it is not, a line says what is lacking."""
    (tmp_path / "swf").mkdir()
    for name, width in ((SP2, 1), (SP2_WHOLE, 2)):
        with gzip.open(tmp_path / name, "wt") as log:
            log.write(f"; MaxProcs: 128\n1 0 0 3600 {width} -1 -1 {width} 3600 -1 1 1 1 -1 -1 -1 -1 -1\n" * 2)
    command = ["study", "all", "--data", str(tmp_path), "--out", str(tmp_path), "--quick", "--only", "logs"]
    rows = tmp_path / "quick" / "studies" / "logs" / "workloads.csv"
    assert run(command) == 0
    assert [row["trace"] for row in rows_of(rows)] == ["SDSC-SP2-1998-4.2-first-jobs"]
    assert "lacks first jobs" not in capsys.readouterr().out
    (tmp_path / SP2_WHOLE).unlink()
    assert run(command) == 0
    assert [row["trace"] for row in rows_of(rows)] == ["SDSC-SP2-1998-4.2-cln"]
    assert "logs: SDSC-SP2-1998-4.2-cln.swf.gz lacks first jobs" in capsys.readouterr().out


def test_every_source_of_the_ledger_is_made_by_a_call(ledger: list[Cell]) -> None:
    labels = {call.label for call in CALLS}
    named = {cell.source.partition("/")[0] for cell in ledger if cell.source.endswith(".csv")}
    assert named <= labels
    assert AllStudies().only == tuple(call.label for call in CALLS)
