"""The foot of a page: where its numbers came from."""

from __future__ import annotations

from typing import Any

from planner.domain.day_summary import DaySummary
from planner.pages.markup import Html, el
from planner.store.seals import CHECKED, RUN
from planner.units import clock


def provenance_foot(summary: DaySummary, run: dict[str, Any]) -> Html:
    """Program, method, seed, inputs with their hashes, and the files beside the page."""
    facts: list[tuple[str, Html | str]] = [
        ("Made by", f"planner {run['planner']}, {run['began']}"),
        ("Command", el("code", " ".join(["plan", *run["command"]]))),
        ("Method", f"{summary.method}, seed {run['seed']}, {clock(summary.solve_s)}, status {summary.status}"),
    ]
    if run.get("engine"):
        facts.append(("Engine", str(run["engine"])))
    facts += [
        ("Versions", ", ".join(f"{name} {version}" for name, version in run["versions"].items())),
        ("Read", "; ".join(f"{each.source}: {each.kept:,} kept" for each in summary.inputs)),
    ]
    facts += [("Input", el("code", f"{path}  sha256 {digest[:16]}…")) for path, digest in run["inputs"].items()]
    links = [el("span", el("a", name, href=name), " ") for name in (*CHECKED, RUN)]
    return el(
        "footer",
        el("h2", "Where the numbers come from"),
        el(
            "dl",
            [[el("dt", name), el("dd", text)] for name, text in facts],
            el("dt", "Beside this page"),
            el("dd", links),
        ),
        id="provenance",
    )
