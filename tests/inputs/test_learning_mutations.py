"""Claims about mutated tables that power is learned from: one clear line, or groups that make sense."""

from __future__ import annotations

import math
import random
from collections import Counter
from pathlib import Path

import pytest

from planner.inputs.books.measured_power import TWICE, Finished, chosen, table_candidates
from planner.inputs.jobs.power_models import LearnedFile, read_learned_power
from planner.limits import W_PER_CORE
from planner.runs.power_sources import learned_file, write_learned_power
from tests.fuzz.damage import put
from tests.fuzz.learning import TABLE, odd_finished
from tests.fuzz.refusals import read_or_refused
from tests.snapshots import site


def learned(paths: list[Path], *settings: str) -> tuple[LearnedFile, Finished]:
    left_out: Counter[str] = Counter()
    finished = chosen(table_candidates(paths, site(*settings), left_out), left_out)
    return learned_file(finished, dict.fromkeys(map(str, paths), "0" * 64), "2024-06-02T00:00:00+00:00"), finished


def check(folder: Path, paths: list[Path], *settings: str) -> bool:
    """Whether there is something to learn; then every figure is sound, and the file reads back as it was."""
    found = read_or_refused(learned, paths, *settings)
    if found is None:
        return False
    file, finished = found
    assert file.jobs == len(finished.jobs) > 0
    assert file.first_end_unix <= file.last_end_unix
    powers = [job.power_w for job in finished.jobs]
    assert all(math.isfinite(watts) and watts >= 0 for watts in powers)
    for level in file.learned.groups:
        assert sum(group.jobs for group in level.values()) <= file.jobs
        for group in level.values():
            assert group.w_per_core in W_PER_CORE
            assert 1 <= group.weight <= group.jobs
    for job in finished.jobs:
        predicted = file.learned.predict(job.asked)
        assert predicted is not None
        assert math.isfinite(predicted.power_w)
        assert predicted.power_w >= 0
    write_learned_power(file, folder / "power.json")
    assert read_learned_power(folder / "power.json") == file
    return True


def test_unchanged_it_teaches(tmp_path: Path) -> None:
    """What is mutated is sound: four jobs had nodes to themselves and a power."""
    (tmp_path / "finished.csv").write_text(TABLE)
    assert check(tmp_path, [tmp_path / "finished.csv"])
    assert learned([tmp_path / "finished.csv"])[0].jobs == 4


@pytest.mark.slow(keep=8)
@pytest.mark.parametrize("seed", range(20))
def test_mutated_tables(tmp_path: Path, seed: int) -> None:
    """Odd cells, rows and columns, jobs metered by node or each by itself; a table that is given twice counts once."""
    rng = random.Random(f"learn:{seed}")
    good = 0
    for number in range(40):
        text = odd_finished(rng)
        path = tmp_path / f"{number}.csv"
        if rng.random() < 0.3:
            path = put(rng, path, text)
        else:
            path.write_bytes(text)
        how = rng.choice([(), ("power.metered=job",)])
        good += check(tmp_path, [path], *how)
        if check(tmp_path, [path, path], *how):
            (once, _), (again, _) = learned([path], *how), learned([path, path], *how)
            assert (again.learned, again.left_out[TWICE]) == (once.learned, once.jobs)
    assert 0 < good < 40
