"""The jobs that are known for a day: generated ones, or those of a file, submitted in time."""

from __future__ import annotations

from planner.domain.horizon import Horizon
from planner.domain.intake import Intake
from planner.domain.job import Job
from planner.errors import InputError
from planner.inputs.jobs.power import constant_of, power_notes, power_of
from planner.inputs.jobs.read import is_swf, read_jobs
from planner.inputs.jobs.unit_shape import unit_shape_of
from planner.inputs.sample.submissions import sample_jobs
from planner.scenario.jobs import FileJobs, SampleJobs, SlurmJobs
from planner.scenario.schema import Scenario


def known_jobs(
    scenario: Scenario,
    horizon: Horizon,
    continues: bool = False,
    *,
    since_unix: int | None = None,
    until_unix: int | None = None,
) -> tuple[tuple[Job, ...], Intake]:
    """The jobs that are known for a day, apart from those handed over.

    On a first day a queue dump is taken whole; of a trace or the sample, what was submitted within the lookback before
    the day. ``visibility: day`` adds what is submitted on the day itself. A day that ``continues`` from the one before
    takes what that one could not know yet, so that every job comes in once. ``since_unix`` and ``until_unix`` take the
    place of these bounds: submitted from the one to before the other.
    """
    choice = scenario.jobs
    if isinstance(choice, SlurmJobs):
        raise only_now()
    sees_day = choice.visibility == "day"
    until = until_unix or (horizon.end_unix if sees_day else horizon.start_unix)
    window = (horizon.start_unix - choice.lookback_s, until)
    if continues:
        window = (horizon.start_unix if sees_day else horizon.day_before().start_unix, until)
    if since_unix is not None:
        window = (since_unix, until)
    elif isinstance(choice, FileJobs) and _is_queue_dump(choice) and not continues:
        window = (0, until)
    return submitted_jobs(scenario, window) if window[0] < window[1] else ((), Intake("no new jobs"))


def submitted_jobs(
    scenario: Scenario, window: tuple[int, int], *, with_runtime: bool = False
) -> tuple[tuple[Job, ...], Intake]:
    """The jobs of a scenario's source that are submitted in a window of Unix time.

    ``with_runtime`` leaves out the jobs of a trace that never ran, whatever the scenario says about them.
    """
    choice = scenario.jobs
    if isinstance(choice, SlurmJobs):
        raise only_now()
    if isinstance(choice, SampleJobs):
        return sample_jobs(
            window,
            zone=scenario.zone,
            cluster=scenario.cluster,
            seed=scenario.seed,
            power=constant_of(scenario.power, scenario.seed),
            load=choice.load,
        )
    power = power_of(scenario)
    jobs, intake = read_jobs(
        choice.source,
        choice.format,
        shape=unit_shape_of(choice, scenario.cluster),
        power=power,
        window=window,
        cluster=scenario.cluster,
        start_unix=choice.start_unix,
        drop_zero_runtime=with_runtime or choice.zero_runtime == "drop",
        zone=scenario.zone,
    )
    intake.notes += power_notes(power, window[1])
    return jobs, intake


def only_now() -> InputError:
    """The error for jobs of a day or a range of days that are wanted of Slurm, which has those of this moment alone."""
    return InputError("jobs.source is slurm, which has the jobs of one moment; plan them with plan now")


def _is_queue_dump(choice: FileJobs) -> bool:
    """Whether all jobs of the file wait: tables do unless the scenario says otherwise, traces do not."""
    if choice.whole_queue is not None:
        return choice.whole_queue
    return choice.format != "swf" and not (choice.format == "auto" and is_swf(choice.source))
