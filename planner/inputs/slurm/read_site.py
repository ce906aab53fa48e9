"""A site read from Slurm: its nodes as a cluster, and its jobs as a snapshot, with a reason for every job that is left
alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from planner.domain.intake import Intake
from planner.domain.job import KINDS, Dependency, Job
from planner.domain.situation import LeftAlone, Situation
from planner.domain.situation_check import require_possible
from planner.errors import InputError
from planner.inputs.jobs.power_models import power_notes, power_of
from planner.inputs.slurm.job import SlurmJob
from planner.inputs.slurm.node_classes import SlurmMachine, machine_of, outages_of
from planner.inputs.slurm.node_units import has_started, some_classes, started_jobs, units_of
from planner.inputs.slurm.queue import Queue
from planner.inputs.slurm.saved_folder import Documents
from planner.power.learned import Asked, PowerModel
from planner.scenario.cluster_slurm import SlurmSection
from planner.scenario.schema import Scenario

OwnBegin = Callable[[SlurmJob], int | None]
"""The begin time that a job has from its user, whatever the planner has set since; None: not set."""

MayHold = Callable[[SlurmJob, int], bool]
"""Whether a job may be held at a moment [Unix s]."""


@dataclass(frozen=True)
class SlurmSite:
    """The documents of a moment, and the machine that they describe."""

    documents: Documents
    machine: SlurmMachine

    @classmethod
    def of(cls, documents: Documents, chosen: SlurmSection) -> SlurmSite:
        """The site of these documents, as far as a scenario wants it planned."""
        return cls(documents, machine_of(documents.nodes(), chosen.partitions))

    def scenario(self, written: Scenario) -> Scenario:
        """A scenario with the cluster of the site in the place of its own."""
        cluster = self.machine.cluster(written.cluster, written.slurm)
        return written.model_copy(update={"cluster": cluster})

    def snapshot(
        self, scenario: Scenario, own_begin: OwnBegin, may_hold: MayHold = lambda job, moment: True
    ) -> tuple[Situation, Intake]:
        """What is true at the moment of the documents; begin times of the planner's own bind nobody."""
        queue, moment = self.documents.queue(), self.documents.moment_unix
        power = power_of(scenario)
        intake = Intake(self.documents.source)
        left: list[LeftAlone] = []
        ran = self._ran(queue, left, intake)
        started, told = started_jobs(ran, self.machine, power, moment)
        intake.repaired.update({f"started jobs {reason}": count for reason, count in told.items()})
        pending = self._pending(queue, power, own_begin, may_hold, left)
        busy = {node for each in started if each.is_running for node in each.nodes}
        outages = outages_of(self.machine, self.documents.reservations(), busy, moment)
        snapshot = Situation(
            moment, pending, started, outages=outages, left_alone=tuple(left), source=self.documents.source
        )
        require_possible(snapshot, scenario.cluster)
        intake.kept = len(pending) + len(started)
        self._tell(snapshot, intake)
        intake.notes += power_notes(power, moment)
        return snapshot, intake

    def _ran(self, queue: Queue, left: list[LeftAlone], intake: Intake) -> list[SlurmJob]:
        """Every job that has started: those of the queue, and those that the accounts have besides."""
        found: dict[str, SlurmJob] = {}
        for job in queue.of_state("running"):
            left += [LeftAlone(job.label, reason) for reason in job.obstacles]
            if has_started(job):
                found[job.label] = job
        for job in queue.of_state("other"):
            left += [LeftAlone(job.label, reason) for reason in job.obstacles]
        known = {job.label for job in queue.jobs}
        # The queue first, as long as it has them: it knows what they had of each node, accounts only the sums.
        again = 0
        for each in (*queue.finished, *self.documents.accounts().ended):
            if not has_started(each) or each.label in found:
                continue
            if each.label in known:
                again += 1  # it was put back into the queue
                continue
            found[each.label] = each
        if again:
            intake.notes.append(f"{again} jobs have run before and wait or run again: what they did before is left out")
        return list(found.values())

    def _pending(
        self, queue: Queue, power: PowerModel, own_begin: OwnBegin, may_hold: MayHold, left: list[LeftAlone]
    ) -> tuple[Job, ...]:
        """The waiting jobs that can be planned."""
        jobs: dict[str, Job] = {}
        places = _places(queue.of_state("pending"))
        labels = _labels_by_number(queue.jobs)
        at_once = Counter(job.array_job_id for job in queue.of_state("running"))
        for each in queue.of_state("pending"):
            job = self._job(each, power, own_begin(each), labels, at_once[each.array_job_id])
            if isinstance(job, str):
                left.append(LeftAlone(each.label, job))
            else:
                held = may_hold(each, self.documents.moment_unix)
                jobs[job.id] = replace(job, may_hold=held, queue_place=places[job.id])
                at_once[each.array_job_id] += 1
        started = {job.label for job in queue.of_state("running")}
        left += _without_those_before(jobs, {job.label for job in queue.jobs} - started)
        return tuple(sorted(jobs.values(), key=lambda job: job.submission_key))

    def _job(
        self,
        queued: SlurmJob,
        power: PowerModel,
        own_begin_unix: int | None,
        labels: Mapping[int, Sequence[str]],
        at_once: int,
    ) -> Job | str:
        """A waiting job, or why it is left alone; ``at_once`` tasks of its array run, or come before it."""
        allowed, why = self.machine.allowed(queued.request, queued.partitions)
        after, why_not = _after_others(queued, labels)
        # Tasks beyond the limit start when others end, which no field of a job says.
        beyond = queued.array_limit is not None and at_once >= queued.array_limit
        limit = f"its array may have only {queued.array_limit} tasks at once" if beyond else ""
        reasons = [reason for reason in (*queued.obstacles, why, limit, why_not) if reason]
        if reasons or queued.limit_s is None:
            return "; ".join(reasons)
        is_later = own_begin_unix is not None and own_begin_unix > self.documents.moment_unix
        try:
            asked = Asked(
                queued.label,
                units_of(queued.request, list(allowed.values())),
                queued.limit_s,
                queued.user,
                queued.account,
                queued.name,
                queued.partition,
                some_classes(allowed, self.machine.classes),
                bool(queued.request.exclusive),
            )
            return asked.job(
                queued.submit_unix,
                power(asked),
                deadline_unix=queued.deadline_unix,
                qos=queued.qos,
                begin_unix=own_begin_unix if is_later else None,
                after=after,
            )
        except InputError as error:
            return str(error)

    def _tell(self, snapshot: Situation, intake: Intake) -> None:
        ended = len(snapshot.started) - len(snapshot.running)
        intake.notes.append(
            f"Slurm {self.documents.version}: {len(snapshot.pending)} pending, {len(snapshot.running)} running,"
            f" {ended} ended, {len(snapshot.left_alone)} left alone"
        )
        if self.machine.left_out:
            intake.notes.append(f"{self.machine.left_out} nodes are in no partition that is planned")
        intake.notes += self.documents.remarks


def _places(waiting: Iterable[SlurmJob]) -> dict[str, int]:
    """The place of each waiting job in Slurm's own order: by its priority, then by its number."""
    in_order = sorted(
        waiting, key=lambda job: (-(job.priority or 0), job.array_job_id or job.job_id, job.array_task_id or 0)
    )
    return {job.label: place for place, job in enumerate(in_order)}


def _labels_by_number(jobs: Iterable[SlurmJob]) -> dict[int, list[str]]:
    """The jobs that each of Slurm's numbers stands for: that of an array for all of its tasks."""
    found: dict[int, list[str]] = {}
    for job in jobs:
        for number in dict.fromkeys((job.job_id, job.array_job_id)):
            if number is not None:
                found.setdefault(number, []).append(job.label)
    return found


def _after_others(job: SlurmJob, labels: Mapping[int, Sequence[str]]) -> tuple[tuple[Dependency, ...], str]:
    """The jobs that a job waits for, by the labels of those in the queue, as others are long gone; or why it cannot be
    planned."""
    found = []
    for each in job.dependency.requirements:
        kind = next((known for known in KINDS if known == each.kind), None)
        if kind is None or each.job_id is None or each.delay_s:
            later = " with a delay" if each.delay_s else ""
            return (), f"it waits for other jobs in a way that is not planned ({each.kind}{later})"
        names = labels.get(each.job_id, []) if each.task_id is None else [f"{each.job_id}_{each.task_id}"]
        found += [Dependency(kind, name) for name in names]
    return tuple(dict.fromkeys(found)), ""


def _without_those_before(jobs: dict[str, Job], waiting: Collection[str]) -> list[LeftAlone]:
    """Take out the jobs that wait for one that is not planned itself, and those that wait for them; says why."""
    left: list[LeftAlone] = []
    while True:
        found = {}
        for job in jobs.values():
            unplanned = [each.job_id for each in job.after if each.job_id in waiting and each.job_id not in jobs]
            if unplanned:
                found[job.id] = unplanned[0]
        if not found:
            return left
        for waits, other in found.items():
            left.append(LeftAlone(waits, f"it waits for job {other}, which is not planned"))
            del jobs[waits]
