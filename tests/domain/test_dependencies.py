"""What dependencies say: their text, who waits for whom, circles, and when a job may start at the earliest."""

from __future__ import annotations

import pytest

from planner.domain.columns import NO_DEADLINE
from planner.domain.job import Dependency, format_dependencies, parse_dependencies
from planner.domain.precedence import links_of, require_no_circle, waiting_in_vain
from planner.domain.problem import Running
from planner.errors import InputError
from tests.plain_day import day, job


def test_slurms_text_names_kinds_and_jobs() -> None:
    """Commas part kinds, colons part ids; what is written reads back."""
    found = parse_dependencies(" after:1, afterok:2:3 ,afterany:x_4(unfulfilled)")
    assert found == (
        Dependency("after", "1"),
        Dependency("afterok", "2"),
        Dependency("afterok", "3"),
        Dependency("afterany", "x_4"),
    )
    assert parse_dependencies(format_dependencies(found)) == found
    assert parse_dependencies("  ") == ()
    assert [each.waits_for_end for each in found] == [False, True, True, True]


@pytest.mark.parametrize(
    "text",
    [
        "afternotok:1",
        "singleton",
        "1",
        "afterok",
        "afterok:",
        "afterok:1,",
        "afterok:1?afterany:2",
        "after:1+10",
        "12:3",
    ],
)
def test_what_cannot_be_planned_is_refused_with_the_known_kinds_or_the_form_of_an_id(text: str) -> None:
    """Nothing is passed over in silence: another kind, a choice between jobs, a delay after a start."""
    with pytest.raises(InputError, match=r"known|after|id"):
        parse_dependencies(text)


def test_links_go_both_ways_and_leave_out_jobs_that_nobody_knows() -> None:
    """A fan, a join, and a dependency on a job that is long gone."""
    jobs = [
        job("d", 1, after="afterok:b:c"),
        job("b", 1, after="after:a"),
        job("c", 1, after="afterany:a,afterok:gone"),
        job("a", 1),
    ]
    links = links_of([each.id for each in jobs], [each.after for each in jobs])
    assert [links.before_of(k) for k in range(4)] == [[[1, 1], [2, 1]], [[3, 0]], [[3, 1]], []]
    assert [links.followers_of(k) for k in range(4)] == [[], [[0, 1]], [[0, 1]], [[1, 0], [2, 1]]]
    assert links.sorted(range(4)).tolist() == [3, 1, 2, 0]
    assert links.sorted([0, 2]).tolist() == [2, 0]


def test_a_circle_is_one_line_that_names_its_jobs_and_no_others() -> None:
    """x hangs on the circle and is not part of it."""
    waits = {"x": "afterok:a", "a": "afterok:b", "b": "after:c", "c": "afterany:a"}
    jobs = [job(name, 1, after=text) for name, text in waits.items()]
    with pytest.raises(InputError) as error:
        day(*jobs)
    assert str(error.value) == (
        "jobs wait for each other in a circle: a -> b -> c -> a; remove one of these dependencies"
    )
    with pytest.raises(InputError, match="job a waits for itself"):
        require_no_circle([job("a", 1, after="afterok:a")])


def test_a_long_circle_names_a_few_of_its_jobs() -> None:
    """The line stays one that people read."""
    jobs = [job(f"j{k}", 1, after=f"afterok:j{(k + 1) % 20}") for k in range(20)]
    with pytest.raises(InputError, match=r"j0 -> j1 -> .* \.\.\. \(20 jobs\)"):
        require_no_circle(jobs)


def test_a_job_is_released_when_all_before_it_can_have_come_first_through_the_chain() -> None:
    """a: 2 h from midnight; b after it 1 h; c starts with b at the earliest; d waits for a running job's end."""
    waits = {"b": "afterok:a", "c": "after:b", "d": "afterany:r", "e": "after:r"}
    jobs = (job("a", 2), *(job(name, 1, after=text) for name, text in waits.items()))
    held = Running(job("r", 3, release_s=-50), -50, 8950, (0,))
    columns = day(*jobs, running=(held,)).columns
    assert columns.release_s.tolist() == [0, 7200, 7200, 8950, 0]


def test_whatever_waits_for_a_job_that_never_runs_is_released_after_any_day() -> None:
    """Through others, too."""
    jobs = (job("a", 1, after="afterok:giant"), job("b", 1, after="after:a"), job("c", 1))
    columns = day(*jobs, never=["giant"]).columns
    assert columns.release_s.tolist() == [NO_DEADLINE, NO_DEADLINE, 0]
    assert waiting_in_vain(jobs, {"giant"}) == {"a", "b"}
