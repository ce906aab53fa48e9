"""The reference pages, made from the code: each is a text in Markdown.

Meanings that a document has are taken from its tables, so that they are written once; a column without a meaning is an
error.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent.parent / "docs"
_KIND = {
    "text": "text",
    "time": "time",
    "whole": "whole number",
    "number": "number",
    "flag": "`yes` or `no`",
}
"""What the cells of a column hold, in words."""


def pages() -> dict[str, str]:
    """Every page of the reference by its file name."""
    return {
        "reference-command-line.md": command_line(),
        "reference-exit-codes.md": exit_codes(),
        "reference-input-columns.md": input_columns(),
        "reference-output-columns.md": output_columns(),
        "reference-json.md": json_keys(),
        "reference-methods.md": methods(),
        "reference-policies.md": policies(),
        "reference-metrics.md": metrics(),
    }


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return (
        "\n".join("| " + " | ".join(re.sub(r"(?<!\\)\|", r"\\|", cell) for cell in line) + " |" for line in lines)
        + "\n"
    )


def named(entries: Mapping[str, str], what: str) -> str:
    """A table of names with a sentence each."""
    return table([what, "meaning"], [(f"`{name}`", text) for name, text in entries.items()])


# ---- The command line ---------------------------------------------------------------------------------------


def command_line() -> str:
    """Every command with its arguments and options, as its help has them."""
    from planner.cli.main import _command

    parts = ["# Command line\n\nWhat `plan COMMAND --help` prints. Data go to stdout, messages to stderr.\n"]
    parts += _commands(_command(), "plan", None)
    return "\n".join(parts)


def _commands(command: Any, name: str, parent: Any) -> Iterator[str]:
    context = command.context_class(command, info_name=name.rpartition(" ")[2], parent=parent)
    usage = " ".join([name, *command.collect_usage_pieces(context)])
    text, _, examples = inspect.cleandoc(command.help or "").partition("\b\n")
    parts = [f"## {name}\n", text.replace("\f", "").strip() + "\n", f"```text\n{usage}\n```\n"]
    if examples:
        parts.append(f"```text\n{examples.strip()}\n```\n")
    records = [parameter.get_help_record(context) for parameter in command.get_params(context)]
    rows = [(f"`{options}`", _sentence(meaning)) for options, meaning in filter(None, records)]
    if rows:
        parts.append(table(["option", "meaning"], rows))
    yield "\n".join(parts)
    for below, inner in getattr(command, "commands", {}).items():
        yield from _commands(inner, f"{name} {below}", context)


def _sentence(text: str) -> str:
    """A help text on one line, with words that Markdown would take for its own as they are."""
    return re.sub(r"([<>*_])", r"\\\1", " ".join(text.split()))


def exit_codes() -> str:
    """What each exit code means."""
    from planner.cli.main import EXIT_CODES

    rows = [(str(code), text) for code, text in EXIT_CODES.items()]
    return (
        "# Exit codes\n\nOf every command; an error is one line on stderr, and nothing half-written is left.\n\n"
        + table(["exit code", "meaning"], rows)
    )


# ---- Columns ------------------------------------------------------------------------------------------------


def documented(document: str, heading: str = "") -> dict[str, tuple[str, ...]]:
    """The cells behind each name in the tables of a document, or of one of its sections.

    A name that stands in the first cell with others shares their row.
    """
    text = (DOCS / document).read_text("utf-8")
    if heading:
        (text,) = [part for part in re.split(r"^## ", text, flags=re.MULTILINE) if part.startswith(heading)]
    found: dict[str, tuple[str, ...]] = {}
    for line in text.splitlines():
        if line.startswith("| `"):
            first, *others = (cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1])
            for name in re.findall(r"`([^`]+)`", first):
                found.setdefault(name, tuple(others))
    return found


def output_columns() -> str:
    """The columns of the tables that a day leaves, with their types."""
    from planner.store.write_tables import COLUMNS, OPTIONAL, kind_of

    parts = [
        "# Output columns\n\nOf the CSV files of a day, in their order. Parquet files (`--also parquet`) have the same"
        " columns with times in UTC, flags for `yes` and `no`, and null where a cell is empty. Columns marked with *"
        " are there only where the day has such a thing. [What a run leaves](outputs.md) has the rest.\n"
    ]
    for name, columns in COLUMNS.items():
        meanings = documented("outputs.md", "`schedule.csv`") | documented("outputs.md", f"`{name}.csv`")
        rows = []
        for column in columns:
            unit, meaning = meanings[column]
            mark, kind = "\\*" if column in OPTIONAL[name] else "", _KIND[kind_of(column)]
            rows.append((f"`{column}`{mark}", f"{kind}, {unit}" if unit not in ("", "time") else kind, meaning))
        parts.append(f"## {name}.csv\n\n" + table(["column", "cells", "meaning"], rows))
    return "\n".join(parts)


def input_columns() -> str:
    """The columns that tables of jobs, snapshots and nodes may have."""
    from planner.inputs.jobs.job_table import COLUMNS, RESOURCES
    from planner.inputs.jobs.unit_groups import resource_columns
    from planner.inputs.snapshots import NODE_COLUMNS, STATE_COLUMNS

    jobs, snapshots = documented("jobs-files.md"), documented("snapshots.md")
    nodes = documented("snapshots.md", "The table of nodes")
    sizes = resource_columns(["cores", *RESOURCES])
    shared = {f"last_unit_{name}": jobs["last_unit_memory_gb"] for name in RESOURCES}
    shared["last_unit_cores"] = jobs["units"]
    meanings = {**shared, **jobs}

    def rows(columns: Iterable[str], known: Mapping[str, tuple[str, ...]]) -> str:
        return table(["column", "meaning"], [(f"`{column}`", known[column][0]) for column in columns])

    return "\n".join(
        [
            "# Input columns\n\nAll columns that the tables may have; an unknown one is an error. Which are necessary,"
            " and how cells are written, is in [Job files](jobs-files.md) and [Snapshots](snapshots.md). Resources that"
            " a cluster has by other names have the same three columns as `gpus`.\n",
            "## Tables of jobs\n\n" + rows([*COLUMNS, *sizes], meanings),
            "## Snapshots, besides\n\n" + rows(STATE_COLUMNS, snapshots),
            "## Tables of nodes\n\n" + rows(NODE_COLUMNS, nodes),
        ]
    )


# ---- JSON ---------------------------------------------------------------------------------------------------


def json_keys() -> str:
    """The keys of the JSON files that a day leaves, as the planner checks them when it reads them back."""
    from planner import __version__
    from planner.domain.day_summary import FORMAT
    from planner.inputs.jobs.power_models import LEARNED_FORMAT, LEARNED_WHAT
    from planner.store.read_json import schemas

    head = f"""\
# JSON keys

The shape of the JSON files that a day leaves, as this version ({__version__}) checks it whenever it reads them
back. `[]` is each item of a list, `<name>` any key. Keys marked with * may be missing. What they mean is in
[What a run leaves](outputs.md).

**Versions.** `format` is the number of the form: {FORMAT} in this version, and where it is missing. The planner refuses
another number with one line, and so should your script. A key that is new does not change the number: let be what you
do not know, and expect that it may be missing in folders of earlier versions. A key that goes or changes its meaning
raises the number, and is in the [changes](changelog.md). Besides, `run.json` has the version of the planner that wrote
the folder (`planner`), those of Python and of the packages (`versions`), and the SHA-256 of every other file
(`outputs`).

The file of learned power (`plan power learn`) has a number of its own: `format` is {LEARNED_FORMAT}, beside
`what`, "{LEARNED_WHAT}". Another number is refused.
"""
    parts = [f"## {name}\n\n" + table(["key", "value"], _keys(each, each)) for name, each in schemas().items()]
    return "\n".join([head, *parts])


JSON_WORDS = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "array": "list",
    "object": "mapping",
}
"""What JSON schema calls the types of values, in words."""


def _keys(schema: dict[str, Any], part: dict[str, Any], key: str = "", mark: str = "") -> Iterator[tuple[str, str]]:
    """Every key below a part of a JSON schema, dotted, with what is expected."""
    part, null = _resolved(schema, part)
    words = JSON_WORDS.get(part.get("type", ""), "any value")
    if "enum" in part or "const" in part:
        words = " or ".join(f"`{value}`" for value in part.get("enum", [part.get("const")]))
    if key:
        yield f"`{key}`{mark}", words + (" or null" if null else "")
    for name, inner in part.get("properties", {}).items():
        optional = "" if name in part.get("required", ()) else "\\*"
        yield from _keys(schema, inner, f"{key}.{name}" if key else name, optional)
    for name, inner in (("[]", part.get("items")), (".<name>", part.get("additionalProperties"))):
        if isinstance(inner, dict) and _resolved(schema, inner)[0].get("properties"):
            yield from list(_keys(schema, inner, f"{key}{name}"))[1:]


def _resolved(schema: dict[str, Any], part: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """A part of a JSON schema with its reference followed, and whether it may be null."""
    null = False
    while "$ref" in part or "anyOf" in part:
        if "$ref" in part:
            part = schema["$defs"][part["$ref"].rpartition("/")[2]]
            continue
        others = [each for each in part["anyOf"] if each.get("type") != "null"]
        null = null or len(others) < len(part["anyOf"])
        part = others[0]
    return part, null


# ---- What there is to choose from ---------------------------------------------------------------------------


def methods() -> str:
    """The planning methods, their parameters and the orderings."""
    from planner.cli.show import TOPICS
    from planner.scenario.reference import key_rows

    rows = [(f"`{key}`", unit, default, text) for key, unit, default, text in key_rows() if key.startswith("search.")]
    return "\n".join(
        [
            "# Methods and orderings\n\n`plan --method NAME`; [The searches](search.md) says how they work."
            " `plan show methods` prints the same.\n",
            named(TOPICS["methods"](), "method"),
            "## Parameters\n\nKeys of a scenario.\n",
            table(["key", "unit", "default", "meaning"], rows),
            "## Orderings\n\nIn which jobs are placed one by one; all of them are tried.\n",
            named(TOPICS["orderings"](), "ordering"),
        ]
    )


def policies() -> str:
    """The on-line policies and the predictors of runtimes."""
    from planner.cli.show import TOPICS

    return "\n".join(
        [
            "# Policies and predictors\n\n`plan simulate --policy NAME --estimate PREDICTOR` and"
            " `plan compare --policy NAME`; [The simulator](simulator.md) says how they work."
            " `plan show policies` prints the same.\n",
            named(TOPICS["policies"](), "policy"),
            "## Predictors of runtimes\n",
            named(TOPICS["predictors"](), "predictor"),
        ]
    )


def metrics() -> str:
    """The metrics of replays."""
    from planner.cli.show import TOPICS

    return (
        "# Metrics\n\n`plan simulate --metrics NAME,...`; [The simulator](simulator.md#metrics) has the formulas. Q is"
        " a job's wait, D its runtime, F both together, r its width.\n\n" + named(TOPICS["metrics"](), "metric")
    )
