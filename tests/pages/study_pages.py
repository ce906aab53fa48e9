"""Pages of studies and of replays with figures or jobs that are made up, as long and wide as real ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from planner.metrics.registry import DEFAULT, METRICS
from planner.pages.replay import replay_page
from planner.studies.cp_online.cells import cells_of as cp_online_cells
from planner.studies.cp_online.rows import rows_of as cp_online_rows
from planner.studies.cp_online.show import page_of as cp_online_page
from planner.studies.curie23.cells import StudyChoice
from planner.studies.curie23.show import page_of as curie23_page
from planner.studies.deadlines.run import Study
from planner.studies.dispatchers.cells import Cell
from planner.studies.dispatchers.rows import replay_rows
from planner.studies.dispatchers.show import page_of as dispatchers_page
from planner.studies.metrics.cells import Cell as MetricsCell
from planner.studies.metrics.rows import policy_rows, published_rows
from planner.studies.metrics.show import page_of as metrics_page
from planner.studies.operation.cells import SAMPLE, Group, cells_of
from planner.studies.operation.rows import rows_of
from planner.studies.operation.show import page_of as operation_page
from planner.studies.published import POLICIES
from tests.curie23_days import shown
from tests.studies.test_cp_online_study import told as cp_online_told
from tests.studies.test_deadlines_study import write_eighty_jobs
from tests.studies.test_dispatchers_study import told as dispatchers_told
from tests.studies.test_metrics_study import told as metrics_told
from tests.studies.test_operation_study import told as operation_told

STUDIES = ("replay", "metrics", "deadlines", "curie23", "operation", "cp-online", "dispatchers")
ESTIMATES = ("actual", "requested")


def page_paths(folder: Path) -> dict[str, Path]:
    """Where the page of each kind is."""
    return {name: folder / f"{name}.html" for name in STUDIES}


def write_pages(folder: Path) -> None:
    """Write a page of each kind into a folder."""
    pages = page_paths(folder)
    for name, text in made_up().items():
        pages[name].write_text(text, encoding="utf-8")
    traces = [write_eighty_jobs(folder / f"{name}.swf") for name in ("SDSC-DS-2004-2.1-cln", "HPC2N-2002-2.2-cln")]
    Study(traces, folder / "deadlines", seeds=2).run()
    (folder / "deadlines" / "deadlines.html").replace(pages["deadlines"])


def made_up() -> dict[str, str]:
    """Most of the pages by name."""
    cells = cells_of(Group(SAMPLE, "bands"), full=True)
    settled = {cell: operation_told(100.0 - k, 60.0 * k) for k, cell in enumerate(cells)}
    hours = {cell.max_delay_h for cell in cells if cell.max_delay_h is not None}
    bounds = {(Group(SAMPLE, "bands"), each): {"profit_eur": 960.0 + each} for each in hours}
    queued = cp_online_cells("KTH-SP2-filtered", ["easy", "order-af", "order-awf"], ["actual", "requested"], seeds=2)
    planned = {cell: cp_online_told(200.0 - k) for k, cell in enumerate(queued)}
    dispatched = {
        Cell("eurora", "mine", policy, estimate): dispatchers_told()
        for policy in ("easy", "hcp19", "pcp19", "pcp21")
        for estimate in ESTIMATES
    }
    trace = "CTC-SP2-1996-3.1-cln"
    measured = {
        MetricsCell(trace, policy, estimate): metrics_told(51.0 + k)
        for estimate in ESTIMATES
        for k, policy in enumerate(("list", *POLICIES))
    }
    policies = policy_rows(measured, trace, "last", "drop")
    return {
        "replay": replays(),
        "metrics": metrics_page(policies, published_rows(policies)),
        "curie23": curie23_page(shown(StudyChoice()), StudyChoice()),
        "operation": operation_page(rows_of(cells, settled, bounds)),
        "cp-online": cp_online_page(cp_online_rows(planned), planned),
        "dispatchers": dispatchers_page(replay_rows(dispatched), []),
    }


def replays() -> str:
    """The page of ten replays of a thousand jobs, with every metric."""
    rng = np.random.default_rng(5)
    runs = [
        (policy, estimate) for policy in ("list", "easy", "conservative", "saf-list", "hold") for estimate in ESTIMATES
    ]
    rows = [
        {"policy": policy, "estimate": estimate, "jobs": 1000, "rounds": 2412, "cpu_s": 12.25}
        | {name: round(float(rng.lognormal(6, 2)), 3) for name in DEFAULT}
        for policy, estimate in runs
    ]
    waits = [(f"{policy}, {estimate}", rng.integers(0, 90_000, 1000)) for policy, estimate in runs]
    meanings = {name: metric.meaning for name, metric in METRICS.items()}
    return replay_page(
        "Replays of KTH-SP2-1996-2.1-cln.swf.gz", ["1,000 jobs on 100 processors"], rows, meanings, waits
    )
