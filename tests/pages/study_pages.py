"""Pages of studies and of replays with figures or jobs that are made up, as long and wide as real ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from planner.metrics import DEFAULT, METRICS
from planner.pages.simulate import replay_page
from planner.studies.cp_online import CpOnlineStudy
from planner.studies.deadlines import DeadlineStudy
from planner.studies.dispatchers import DispatcherStudy
from planner.studies.metrics import MetricsStudy
from planner.studies.operation import OperationStudy
from planner.studies.report import StudyReport
from planner.studies.study import Study
from tests.curie23_days import HandMadeStudy, shown
from tests.studies.test_cp_online_study import found_of
from tests.studies.test_cp_online_study import told as cp_online_told
from tests.studies.test_deadlines_study import write_eighty_jobs
from tests.studies.test_dispatchers_study import told as dispatchers_told
from tests.studies.test_metrics_study import told as metrics_told
from tests.studies.test_operation_study import found_of as operation_found

STUDIES = ("replay", "metrics", "deadlines", "curie23", "operation", "cp-online", "dispatchers")
ESTIMATES = ("actual", "requested")


def page_paths(folder: Path) -> dict[str, Path]:
    """Where the page of each kind is."""
    return {name: folder / f"{name}.html" for name in STUDIES}


def write_pages(folder: Path) -> None:
    """Write a page of each kind into a folder."""
    pages = page_paths(folder)
    for name, text in made_up(folder).items():
        pages[name].write_text(text, encoding="utf-8")
    traces = [write_eighty_jobs(folder / f"{name}.swf") for name in ("SDSC-DS-2004-2.1-cln", "HPC2N-2002-2.2-cln")]
    study = DeadlineStudy(traces=tuple(traces), out=folder, seeds=2)
    study.run()
    (study.folder / "deadlines.html").replace(pages["deadlines"])


def made_up(folder: Path) -> dict[str, str]:
    """Most of the pages by name."""
    return {"replay": replays()} | {
        name: study.page(report) for name, (study, report) in made_up_reports(folder).items()
    }


def made_up_reports(folder: Path) -> dict[str, tuple[Study, StudyReport]]:
    """Studies with a report of figures that are made up, by name."""
    kth = folder / "KTH-SP2-filtered.swf"
    kth.touch()
    queued = CpOnlineStudy(traces=(kth,), policies=("easy", "order-af", "order-awf"), estimates=ESTIMATES, seeds=2)
    planned = found_of(queued, (cp_online_told(200.0 - k) for k in range(100)))
    operation = OperationStudy(sites=("sample",), out=folder)
    dispatchers = DispatcherStudy()
    dispatched = [
        dispatchers_told("eurora", "mine", policy, estimate)
        for policy in ("easy", "hcp19", "pcp19", "pcp21")
        for estimate in ESTIMATES
    ]
    ctc = folder / "CTC-SP2-1996-3.1-cln.swf"
    ctc.touch()
    packed = MetricsStudy(traces=(ctc,), parts=("policies",))
    measured = found_of(packed, (metrics_told(51.0 + k % 10) for k in range(20)))
    curie23 = HandMadeStudy()
    return {
        "metrics": (packed, packed.report(measured)),
        "curie23": (curie23, shown(curie23)),
        "operation": (operation, operation.report(operation_found(operation))),
        "cp-online": (queued, queued.report(planned)),
        "dispatchers": (dispatchers, dispatchers.report(dispatched)),
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
