"""A new site folder: a commented scenario, cooling tables, example jobs, what runs it by the clock, and what to do."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from planner.domain.cluster import short_names
from planner.domain.job import counting_key
from planner.errors import InputError, OutputError
from planner.inputs.books.month_that_ran import RanMonth
from planner.inputs.jobs.job_table import write_job_table
from planner.inputs.pue_csv import pue_table_text, read_pue_table
from planner.places import is_folder, is_there
from planner.store.folder import filled

_TEMPLATES = Path(__file__).parent / "templates"
_WRITTEN = {
    "scenarios/site.yaml": "site.yaml",
    "jobs/example.csv": "example.csv",
    "README.md": "README.md",
    **{
        f"deploy/{name}": f"deploy/{name}"
        for name in (
            "planner.service",
            "planner.timer",
            "planner-book.service",
            "planner-book.timer",
            "planner.cron",
            "alerts.yml",
        )
    },
}
_TABLES = ("air.csv", "hybrid.csv")


def write_site(target: Path, *, shipped: Path, month: RanMonth | None = None, zone: str = "UTC") -> list[Path]:
    """Make a new site at ``target`` and return its files; all of it appears, or nothing does.

    The tables are copied from ``shipped/tables``. A folder that holds anything is refused. With a month that ran, the
    site has its nodes and its jobs, in its time zone, and no example jobs.
    """
    try:
        place = target.expanduser().resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise InputError(f"{target} cannot be a folder ({error}); name a new folder") from error
    _demand_empty(place, target)
    contents = {name: _TEMPLATES / template for name, template in _WRITTEN.items()}
    contents |= {f"tables/{name}": shipped / "tables" / name for name in _TABLES}
    if month is not None:
        del contents["jobs/example.csv"]
    for source in contents.values():
        if not source.is_file():
            raise InputError(f"{source} is missing; the planner is not completely installed, install it again")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        _write(place, contents, None if month is None else partial(_as_it_ran, month, zone))
    except OSError as error:
        raise OutputError(f"{target}: cannot be written: {error.strerror or error}") from error
    return [target / name for name in sorted([*contents, *([] if month is None else [_MONTH])])]


_MONTH = "jobs/month.csv"
_OWN_NODES = re.compile(r"    cpu: .*?(?=    # gpu:)", re.DOTALL)


def _as_it_ran(month: RanMonth, zone: str, folder: Path) -> None:
    """Put the nodes and jobs of a month in the place of the example's."""
    if not month.nodes:
        raise InputError(f"{month.source}: only accounts say which nodes there are; give what sacct has written")
    write_job_table(month.site_jobs(), folder / _MONTH)
    for name in _TABLES:
        table, _ = read_pue_table(folder / "tables" / name)
        said = f"The shipped table, stretched to a machine of {month.full_w / 1000:,.0f} kW; see `plan table build`."
        (folder / "tables" / name).write_text(pue_table_text(table.stretched(month.full_w), said), encoding="utf-8")
    site = folder / "scenarios" / "site.yaml"
    classes = "".join(
        f'    {each.name}:\n      count: {len(each.nodes)}\n      nodes: "{_listed(each.nodes)}"\n'
        f"      capacity: {{cores: {each.cores}}}   # the most in use at once; correct it, and add memory_gb and gpus\n"
        "      idle_w: 0                   # draw of a node on which nothing runs\n"
        for each in month.nodes
    )
    text = _OWN_NODES.sub(lambda _: classes, site.read_text(encoding="utf-8"), count=1)
    for line, own in (
        ("zone: America/New_York ", f"zone: {zone} "),
        ("  source: ../jobs/example.csv ", "  source: ../jobs/month.csv "),
        ("  # whole_queue: true ", "  whole_queue: false "),
        ("description: My site, as plan init wrote it", "description: My site, as its accounts show it"),
    ):
        if line not in text:
            raise InputError(f"the template of a site has no line {line!r}; install the planner again")
        text = text.replace(line, own, 1)
    site.write_text(text, encoding="utf-8")


def _listed(nodes: Iterable[str]) -> str:
    return ",".join(short_names(sorted(nodes, key=counting_key)))


def _demand_empty(place: Path, target: Path) -> None:
    if is_there(place) and not is_folder(place):
        raise InputError(f"{target} is a file; name a new folder")
    if is_folder(place) and any(place.iterdir()):
        raise InputError(f"{target} is not empty; name a new or empty folder")


def _write(place: Path, contents: dict[str, Path], then: Callable[[Path], None] | None) -> None:
    with filled(place) as made:
        if made != place:
            _copy(contents, made, then)
            return
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=f".{place.name}.") as folder:
        # One level down, since the temporary folder itself is readable by its owner alone.
        made = Path(folder) / place.name
        _copy(contents, made, then)
        # Someone is standing in the empty folder (`plan init .`): keep it and move the contents in.
        moved: list[Path] = []
        try:
            for entry in sorted(made.iterdir()):
                moved.append(entry.rename(place / entry.name))
        except OSError:
            for entry in moved:
                entry.rename(made / entry.name)
            raise


def _copy(contents: dict[str, Path], folder: Path, then: Callable[[Path], None] | None) -> None:
    """Fill a folder, and change it as is wanted."""
    for name, source in contents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, folder / name)
    if then is not None:
        (folder / "jobs").mkdir(exist_ok=True)
        then(folder)
