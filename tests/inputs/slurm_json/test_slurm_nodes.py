"""Claims about Slurm's nodes and reservations."""

from __future__ import annotations

import pytest

from planner.errors import InputError
from planner.inputs.slurm.json_document import DocumentAnswer
from planner.inputs.slurm.nodes_reservations import Reservation, read_nodes, read_reservation_text, read_reservations
from tests.slurm_documents import DIALECTS, NOW, Dialect, answer, nodes, reservations


def test_three_dialects_give_equal_nodes() -> None:
    """A word with flags beside it and one list of words are the same; so are a text and a list of features."""
    first, second, third = (read_nodes(answer(nodes(dialect))) for dialect in DIALECTS)
    assert first == second == third


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_a_node_has(dialect: Dialect) -> None:
    """CPUs, memory, GPUs of a type, where it belongs."""
    first, second, third = read_nodes(answer(nodes(dialect)))
    assert (first.name, first.cpus, first.memory_mb) == ("n1", 32, 128000)
    assert (first.gpus, first.gpu_type) == (4, "a100")
    assert (first.partitions, first.features) == (("batch", "debug"), ("ib", "a100"))
    assert (second.gpus, second.gpu_type) == (4, "")
    assert third.gpus == 0


@pytest.mark.parametrize("dialect", DIALECTS)
def test_states_of_nodes(dialect: Dialect) -> None:
    """Each flag counts, whatever the state beside it."""
    first, second, third = read_nodes(answer(nodes(dialect)))
    assert [(each.is_down, each.is_draining) for each in (first, second, third)] == [
        (False, False),
        (False, True),
        (True, False),
    ]
    assert {"RESERVED", "MAINTENANCE"} <= set(second.states)
    assert not {"IDLE", "PLANNED"} & set(first.states)


def test_texts_of_states() -> None:
    """Some versions write ``IDLE+PLANNED`` and ``down*``."""
    document = nodes("24.11")
    document["nodes"][0]["state"] = "IDLE+PLANNED"
    document["nodes"][1]["state"] = "down*"
    first, second, _ = read_nodes(answer(document))
    assert first.states == ("IDLE", "PLANNED")
    assert second.is_down


def test_cpus_that_jobs_can_have() -> None:
    """Cores kept for the system do not count."""
    document = nodes("24.11")
    document["nodes"][0]["effective_cpus"] = 30
    assert [node.cpus for node in read_nodes(answer(document))] == [30, 32, 32]


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("cpus", None, r"nodes\[1\]\.cpus is null, expected a number of CPUs"),
        ("cpus", "x", r"nodes\[1\]\.cpus is 'x', expected a whole number"),
        ("real_memory", [], r"nodes\[1\]\.real_memory is a list, expected a whole number"),
        ("state", [], r"nodes\[1\]\.state is a list, expected a state such as IDLE"),
        ("name", "n1", r"nodes\[1\] is node 'n1' again"),
        ("name", "", r"nodes\[1\]\.name is '', expected the name of a node"),
    ],
)
def test_wrong_values_of_nodes(key: str, value: object, line: str) -> None:
    """Named with their place."""
    document = nodes("24.11")
    document["nodes"][1][key] = value
    with pytest.raises(InputError, match=line):
        read_nodes(answer(document))


def test_three_dialects_give_equal_reservations() -> None:
    """Who keeps which nodes from when until when."""
    for dialect in DIALECTS:
        found = read_reservations(answer(reservations(dialect)))
        assert found == (
            Reservation("fans", ("n1", "n2"), NOW, NOW + 60, ("MAINT",)),
            Reservation("course", (), NOW, NOW + 99),
        )
        assert [each.is_maintenance for each in found] == [True, False]


def test_a_reservation_ends_after_its_start() -> None:
    """What cannot be is refused."""
    document = reservations("22.05")
    document["reservations"][0]["end_time"] = NOW - 1
    with pytest.raises(InputError, match=r"reservations\[0\] ends at \d+, before its start"):
        read_reservations(answer(document))


RESERVATION_TEXT = """\
ReservationName=maint StartTime=2026-11-16T03:40:17 EndTime=2026-11-16T05:40:17 Duration=02:00:00 Nodes=n[1-2] \
NodeCnt=2 CoreCnt=64 Features=(null) PartitionName=(null) Flags=MAINT,IGNORE_JOBS TRES=cpu=64 Users=root,eve \
Groups=(null) Accounts=(null) Licenses=(null) State=INACTIVE BurstBuffer=(null) Watts=n/a MaxStartDelay=(null)
ReservationName=cores StartTime=2026-11-16T04:40:17 EndTime=2026-11-16T06:40:17 Duration=02:00:00 Nodes=n8 NodeCnt=1 \
CoreCnt=4 Features=(null) PartitionName=open Flags= TRES=cpu=4 Users=(null) Groups=(null) Accounts=physics
"""
"""As Slurm 22.05 writes it under TZ=UTC."""


def text_answer(text: str) -> DocumentAnswer:
    """Text of the command."""
    return DocumentAnswer("scontrol", text.encode())


def test_reservations_of_22_05_are_text() -> None:
    """Times are UTC, and (null) is nothing. 2026-11-16T03:40:17Z is 1794800417."""
    assert read_reservation_text(text_answer(RESERVATION_TEXT)) == (
        Reservation("maint", ("n1", "n2"), 1794800417, 1794807617, ("IGNORE_JOBS", "MAINT")),
        Reservation("cores", ("n8",), 1794804017, 1794811217),
    )


def test_a_text_without_reservations() -> None:
    """Slurm says so in words."""
    assert read_reservation_text(text_answer("No reservations in the system\n")) == ()


@pytest.mark.parametrize("text", ["x", "ReservationName=a StartTime=soon EndTime=2026-11-16T06:40:17", '{"jobs": 3}'])
def test_a_text_that_is_no_reservation_is_one_line(text: str) -> None:
    """With the line."""
    with pytest.raises(InputError, match=r"scontrol:1: StartTime is missing or no time; expected the output of"):
        read_reservation_text(text_answer(text))
