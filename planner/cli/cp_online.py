"""``plan study cp-online``: policies that plan the whole queue in every round, published figures beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planner.bounds import EVALUATIONS, PROCESSORS
from planner.cli.day import NoRemarksOption
from planner.cli.study import show_study
from planner.cli.study_output import named_or_all
from planner.cli.terminal import TaskBar
from planner.online.search_options import USUAL_SEARCH

if TYPE_CHECKING:
    from planner.runs.figures import Row

MOST_WORKERS = 2
MOST_SEEDS = 20


def cp_online(
    traces: Annotated[list[Path], typer.Argument(metavar="TRACE...", help="SWF traces to run it on.")],
    policies: Annotated[
        str | None, typer.Option("--policies", "-p", metavar="LIST", help="By commas; default all of the study.")
    ] = None,
    estimates: Annotated[str | None, typer.Option("--estimates", "-e", metavar="LIST", help="By commas.")] = None,
    seeds: Annotated[int, typer.Option(min=1, max=MOST_SEEDS, help="Seeds of each policy that searches.")] = 1,
    evaluations: Annotated[
        int, typer.Option(min=0, max=int(EVALUATIONS.high), help="Orders that order-... tries per waiting job.")
    ] = USUAL_SEARCH.evaluations,
    processors: Annotated[
        int | None, typer.Option(min=1, max=int(PROCESSORS.high), help="Machine size; else the SWF header's.")
    ] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Only the first jobs of each trace.")] = None,
    workers: Annotated[int, typer.Option(min=1, max=MOST_WORKERS, help="Processes side by side.")] = 1,
    fresh: Annotated[bool, typer.Option("--fresh", help="Start anew instead of going on.")] = False,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where results go, below OUT/studies/cp-online.")] = Path(
        "reports"
    ),
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the tables for a document.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
    quiet: NoRemarksOption = False,
) -> None:
    """Policies that plan the whole queue in every round for a local objective, beside the paper on CP Optimizer.

    Every metric is a percentage of List-REG with the same estimate. An interrupted study goes on where it stopped.
    """
    from planner.online.estimates import estimate_named
    from planner.online.policies import policy_named
    from planner.studies.cp_online.cells import POLICIES
    from planner.studies.cp_online.run import Study
    from planner.studies.dispatchers.cells import ESTIMATES
    from planner.studies.operation.show import terminal_rows
    from planner.studies.operation.tables import groups_of
    from planner.studies.trace_files import trace_files

    wanted = [policy_named(name).name for name in named_or_all(policies, POLICIES)]
    believed = [estimate_named(name).name for name in named_or_all(estimates, ESTIMATES)]
    paths = trace_files(traces)
    folder = out.resolve() / "studies" / "cp-online"
    study = Study(paths, folder, wanted, believed, seeds, evaluations, processors, jobs, workers)
    with TaskBar("cp-online", len(study.cells()), quiet=quiet) as bar:
        rows = study.run(fresh=fresh, on_done=bar.advance)
    titled = {_title(group): terminal_rows(group) for group in groups_of(rows)}
    show_study(folder / "cp-online.md", rows, titled, as_json=as_json, markdown=markdown)


def _title(group: list[Row]) -> str:
    return f"{group[0]['trace']}, {group[0]['estimate']} runtimes, percent of List-REG"
