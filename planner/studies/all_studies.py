"""``plan study all``: every study of the papers as the ledger has it, one call after the other, then the ledger."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from planner.errors import SolverError
from planner.places import data_home, full_path
from planner.studies.cp_online import SEARCHED, CpOnlineStudy
from planner.studies.curie23 import Curie23Study
from planner.studies.deadlines import DeadlineStudy
from planner.studies.dispatchers import DispatcherStudy
from planner.studies.fidelity import LedgerStudy
from planner.studies.metrics import MetricsStudy
from planner.studies.study import Study, require_known
from planner.studies.workloads import WorkloadStudy

KTH, SP2 = "swf/KTH-SP2-filtered.swf.gz", "swf/SDSC-SP2-1998-4.2-cln.swf.gz"
KTH_CLEANED = "swf/KTH-SP2-1996-2.1-cln.swf.gz"
CTC, BLUE = "swf/CTC-SP2-1996-3.1-cln.swf.gz", "swf/SDSC-BLUE-2000-4.2-cln.swf.gz"
CURIE, BLUE_WATERS = "swf/CEA-Curie-2011-2.1-cln.swf.gz", "swf/BW201911.swf.gz"
HPC2N, DATA_STAR = "swf/HPC2N-2002-2.2-cln.swf.gz", "swf/SDSC-DS-2004-2.1-cln.swf.gz"
INTREPID = "swf/ANL-Intrepid-2009-1.swf.gz"
SP2_WHOLE = "swf/SDSC-SP2-1998-4.2-first-jobs.swf.gz"
"""Stands for the cleaned log where it is there: it has the first jobs, too (`benchmarks/first_jobs.py`)."""

PAPER_LOGS = (KTH, CTC, SP2, BLUE, CURIE, BLUE_WATERS)
QUEUES = {"estimates": ("actual", "requested"), "evaluations": 2}
LISTS = ("easy", "spf-list", "saf-list", "sjf-list", "laf-list")
UNBOUNDED = {"bound_time_s": 0.0, "run_bound_time_s": 0.0, "workers": 1}
DAY_OF_CURIE = {"calibrations": ("ours",), "days": 1, "until_empty": False, "scenarios": ("air-summer",)}


@dataclass(frozen=True)
class StudyCall:
    """A study with its options; ``files`` are those of the data folder that it needs, of which some may be missing.

    ``given`` is the option that takes them, or ``data`` for one that takes the folder. ``part`` are the options of a
    quick look at it.
    """

    label: str
    kind: type[Study]
    files: tuple[str, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    part: Mapping[str, Any] = field(default_factory=lambda: {"jobs": 300})
    given: str = "traces"


CALLS = (
    StudyCall("logs", WorkloadStudy, (KTH_CLEANED, *PAPER_LOGS, HPC2N, DATA_STAR, INTREPID), part={}),
    StudyCall("metrics-policies", MetricsStudy, PAPER_LOGS, {"parts": ("policies",)}),
    StudyCall("metrics-distortion", MetricsStudy, (KTH,), {"parts": ("distortion",)}, {"jobs": 300, "steps": 3}),
    StudyCall("metrics-areas", MetricsStudy, (SP2,), {"parts": ("areas",)}),
    StudyCall("deadlines-published", DeadlineStudy, (BLUE, HPC2N, DATA_STAR, INTREPID),
         {"as_published": True, "seeds": 3, "policies": ("deadline", "conservative", "easy")}),
    StudyCall("cp-online-lists", CpOnlineStudy, PAPER_LOGS, QUEUES | {"policies": LISTS}),
    StudyCall("curie23-rules", Curie23Study, (CURIE,),
              UNBOUNDED | {"calibrations": ("ours", "fitted"), "runs": ("est", "multisearch")},
              {**DAY_OF_CURIE, "runs": ("est", "multisearch")}, given="data"),
    StudyCall("dispatchers-eurora", DispatcherStudy, ("eurora/replay.csv",),
         {"scenarios": ("eurora",), "parts": ("replays",), "estimates": ("data", "actual", "last2"), "jobs": 1300,
          "policies": ("hcp19", "pcp21", "pcp21s", "order-stretch", "easy", "list", "spf-list")},
         {"jobs": 40, "policies": ("pcp21", "easy")}, given="files"),
    StudyCall("curie23-searches", Curie23Study, (CURIE,),
              UNBOUNDED | {"calibrations": ("ours",), "runs": ("est", "multisearch", "cp", "delay", "relaxation"),
                           "time_limit_s": 15.0, "until_empty": False},
              {**DAY_OF_CURIE, "runs": ("est", "multisearch", "delay"), "time_limit_s": 1.0}, given="data"),
    StudyCall("cp-online-searches", CpOnlineStudy, PAPER_LOGS, QUEUES | {"policies": ("saf-list", *SEARCHED)}),
    StudyCall("metrics-predictors", MetricsStudy, PAPER_LOGS, {"parts": ("predictors",)}),
)  # fmt: skip
"""What ours in the ledger are made by, the quick ones first."""

LABELS = tuple(call.label for call in CALLS)
QUICK = "quick"
"""The folder of a quick look."""


@dataclass(frozen=True)
class AllStudies:
    """All calls, or some, below a folder; each goes on where it stopped. ``is_part`` has a few jobs of each alone."""

    data: Path | None = None
    out: Path = Path("reports")
    only: tuple[str, ...] = LABELS
    is_part: bool = False

    def __post_init__(self) -> None:
        require_known("study", self.only, LABELS)

    def run(self, say: Callable[[str], None]) -> None:
        """Run the calls, saying what is done and what could not be, and then make the ledger.

        A quick look has a folder of its own, and no ledger: its figures are of a few jobs.
        """
        for call in CALLS:
            if call.label in self.only:
                self._run(call, say)
        if not self.is_part:
            ledger = LedgerStudy(out=self.out)
            ledger.run()
            say(f"fidelity: {ledger.folder}")

    def _run(self, call: StudyCall, say: Callable[[str], None]) -> None:
        folder = data_home(self.data)
        places = [_fullest(folder, name) for name in call.files]
        here = tuple(path for path in places if path.is_file())
        if missing := ", ".join(path.name for path in places if not path.is_file()):
            say(f"{call.label}: not here: {missing}")
        if full_path(folder / SP2) in here:
            say(f"{call.label}: {Path(SP2).name} lacks first jobs that the papers' copy has (docs/study-metrics.md)")
        if not here:
            return
        options = {**call.options, **(call.part if self.is_part else {})}
        options[call.given] = folder if call.given == "data" else here
        try:
            out = self.out / QUICK if self.is_part else self.out
            study = call.kind(out=out, label=call.label, **options)
            study.run()
        except SolverError as error:
            say(f"{call.label}: {error}")
            return
        say(f"{call.label}: {study.folder}")


def _fullest(folder: Path, name: str) -> Path:
    """Where a file of the data folder is; of SDSC-SP2 the whole log, where it is there."""
    whole = full_path(folder / SP2_WHOLE)
    return whole if name == SP2 and whole.is_file() else full_path(folder / name)
