"""Claims about mutated documents of Slurm: one clear line or clean records, whatever they say."""

from __future__ import annotations

import dataclasses
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planner.errors import LONGEST, InputError
from planner.inputs.slurm.json_document import DocumentAnswer, Source
from planner.inputs.slurm.nodes_reservations import read_nodes, read_reservations
from planner.inputs.slurm.queue import read_queue
from planner.inputs.slurm.sacct_json import read_accounting
from planner.limits import UNIX_S
from tests.fuzz.damage import damaged, put
from tests.fuzz.odd import odd_text
from tests.fuzz.tree import mutated
from tests.slurm_documents import DIALECTS, Dialect, nodes, reservations, sacct, small_queue, squeue

Reader = Callable[[Source], Any]
READERS: dict[str, tuple[Reader, Callable[[Dialect], dict[str, Any]]]] = {
    "queue": (read_queue, lambda dialect: squeue(dialect, small_queue())),
    "nodes": (read_nodes, nodes),
    "reservations": (read_reservations, reservations),
    "accounting": (read_accounting, lambda dialect: sacct(dialect, batch=7)),
}
ODD_TEXTS = (
    *("n[1-3", "n[1-99999999]", "n[0-9][0-9][0-9][0-9][0-9][0-9]", "[1-2]", "(null)", "n[1]x[2]"),
    *("1-10%2", "1-999999999", "1-9:0", "5-1", "0x7f", "1,,2", "1-3%", "%", "1-99999%1", "..."),
    *("cpu=1,mem=5Q", "node=0", "mem=1.5P", "gres/gpu=", "gres:gpu:x:y:z", "gpu:99999999999999999999", "gres/gpu:4("),
    *("afterok:", "afterok:1(", "singleton:5", "?", ",", "afterok:1" * 99, "after:1+99999999999"),
    *("RUNNING", "PENDING", "COMPLETED", "CANCELLED by 7", "idle+drain", "\ud800", "\x00"),
)


def check(read: Reader, source: Source) -> bool:
    """Whether it reads; what does not is one short printable line."""
    try:
        found = read(source)
    except InputError as error:
        line = str(error)
    else:
        line = ""
        clean(found)
    assert line.isprintable()
    assert len(line) <= LONGEST
    return not line


def clean(found: Any) -> None:
    """Only what the records may hold: plain values, times within the calendar, reasons that can be printed."""
    if dataclasses.is_dataclass(found):
        for field in dataclasses.fields(found):
            value = getattr(found, field.name)
            if field.name.endswith("_unix"):
                assert value is None or value in UNIX_S
            if field.name == "obstacles":
                assert all(text.isprintable() and len(text) <= LONGEST for text in value)
            clean(value)
    elif isinstance(found, tuple):
        for each in found:
            clean(each)
    else:
        assert found is None or type(found) in (int, str, bool)


def odd_places(rng: random.Random, tree: Any) -> None:
    """Text of one of the formats inside the values, in some place that holds text."""
    places = [
        (holder, key)
        for holder in _objects(tree)
        for key, value in holder.items()
        if isinstance(value, str) and key != "data_parser"
    ]
    holder, key = rng.choice(places)
    holder[key] = rng.choice(ODD_TEXTS) if rng.random() < 0.7 else odd_text(rng)


def _objects(tree: Any) -> Any:
    if isinstance(tree, dict):
        yield tree
    for each in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from _objects(each)


@pytest.mark.slow(keep=20)
@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("seed", range(25))
def test_mutated_values(name: str, seed: int) -> None:
    """Keys dropped and renamed, types changed, huge numbers, NaN, nested garbage, odd text."""
    read, make = READERS[name]
    rng = random.Random(seed)
    good = 0
    for _ in range(60):
        tree = make(rng.choice(DIALECTS))
        if rng.random() < 0.4:
            odd_places(rng, tree)
        else:
            tree = mutated(rng, tree)
        text = json.dumps(tree, ensure_ascii=rng.random() < 0.5).encode("utf-8", "surrogatepass")
        good += check(read, DocumentAnswer("squeue --json", text))
    # Mutations of keys that nobody reads, and those of the kind that is allowed, leave sound documents.
    assert 0 < good < 60


@pytest.mark.slow(keep=20)
@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("seed", range(25))
def test_damaged_files(tmp_path: Path, name: str, seed: int) -> None:
    """Bytes flipped, cut, put in between, packed, in other encodings, and things that are no files."""
    read, make = READERS[name]
    rng = random.Random(seed)
    for number in range(20):
        text = json.dumps(make(rng.choice(DIALECTS)), indent=rng.choice([None, 1])).encode()
        check(read, DocumentAnswer("squeue --json", damaged(rng, text)))
        check(read, put(rng, tmp_path / f"{number}.json", damaged(rng, text)))


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"null",
        b"[]",
        b"5",
        b"NaN",
        b'"jobs"',
        b"{}",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"jobs": ' + b"[" * 900 + b"]" * 900 + b"}",
        b'{"jobs": ' + b"9" * 5000 + b"}",
        b'{"jobs": null, "nodes": null, "reservations": null}',
        b'{"jobs": {}, "nodes": "x", "reservations": 1e999}',
        b'{"jobs": [[]], "nodes": [null], "reservations": ["\\ud800"]}',
        b'{"jobs": [], "errors": [{"error": 5}]}',
        b'{"jobs": [], "errors": "x"}',
        b'{"jobs": [{"job_id": 1e400}], "nodes": [{"name": "a", "cpus": -Infinity}], "reservations": [{}]}',
        b"\xff\xfe\x00\x00",
    ],
    ids=range(18),
)
def test_strange_documents(name: str, text: bytes) -> None:
    """Not the shape of any document of Slurm."""
    check(READERS[name][0], DocumentAnswer("squeue --json", text))
