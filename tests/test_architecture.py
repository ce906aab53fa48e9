"""The layers of the package: imports go down only, and heavy packages stay in their rooms."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "planner"

LAYERS = {
    "printable": 0,
    "signals": 0,
    "errors": 1,
    "defaults": 0,
    "limits": 2,
    "places": 2,
    "parquet": 3,
    "text_files": 3,
    "units": 3,
    "compiled": 3,
    "domain": 4,
    "machine": 5,
    "accounting": 5,
    "metrics": 5,
    "power": 5,
    "scenario": 5,
    "inputs": 6,
    "search": 6,
    "cp": 6,
    "online": 6,
    "cooling": 6,
    "site": 10,
    "methods": 7,
    "planning": 8,
    "store": 9,
    "pages": 10,
    "slurm": 10,
    "runs": 11,
    "studies": 12,
    "api": 12,
    "cli": 13,
}
"""Rooms of one layer do not import each other."""

MODULES = sorted(PACKAGE.rglob("*.py"))


def room_of(module: str) -> str:
    """The first part of a module's name below the package."""
    return module.split(".")[1] if "." in module else module


@cache
def tree_of(path: Path) -> ast.Module:
    """A file's code as Python reads it."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports_of(path: Path) -> list[str]:
    """Every module that a file imports, wherever in the file."""
    found = []
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            assert node.level == 0, f"{path}: relative import"
            found.append(node.module)
    return found


def own_room(path: Path) -> str:
    """The room that a file stands in."""
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def test_imports_go_down_only() -> None:
    """A file imports from lower layers and from its own room, never from above or from a sibling."""
    climbs = []
    for path in MODULES:
        here = own_room(path)
        if here in ("__init__", "__main__"):
            continue
        for module in imports_of(path):
            there = room_of(module)
            if module.startswith("planner.") and there != here and LAYERS[there] >= LAYERS[here]:
                climbs.append(f"{path.name} in {here} ({LAYERS[here]}) imports {module} ({LAYERS[there]})")
    assert climbs == []


@pytest.mark.parametrize(
    ("package", "rooms"),
    [("numba", {"compiled"}), ("docplex", {"cp"}), ("ortools", {"cp"}), ("pydantic", {"scenario", "store"})],
)
def test_heavy_packages_stay_in_their_rooms(package: str, rooms: set[str]) -> None:
    """numba is for the decorator of kernels, docplex and OR-Tools for cp/, pydantic for what files must look like."""
    users = {own_room(path) for path in MODULES if any(m.split(".")[0] == package for m in imports_of(path))}
    assert users <= rooms


def test_no_room_is_called_utils() -> None:
    """A room is named for what is in it."""
    names = {path.stem for path in MODULES}
    assert not names & {"utils", "misc", "helpers", "common"}


def test_class_names_are_unique() -> None:
    """A class is found by its name alone: no two files define one of the same name."""
    places: dict[str, list[str]] = {}
    for path in MODULES:
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(str(path.relative_to(PACKAGE)))
    assert {name: files for name, files in places.items() if len(files) > 1} == {}


def parts() -> set[tuple[str, str]]:
    """Module and name of every function that is compiled into kernels only."""
    found = set()
    for path in MODULES:
        module = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        for node in tree_of(path).body:
            if isinstance(node, ast.FunctionDef) and any(
                isinstance(each, ast.Name) and each.id == "part" for each in node.decorator_list
            ):
                found.add((module, node.name))
    return found


def test_parts_of_kernels_are_called_by_compiled_code_alone() -> None:
    """A part has no machine code of its own: only the machine and the kernels of other rooms may import it."""
    known = parts()
    assert len(known) > 50
    for path in MODULES:
        if path.parent.name in ("kernel", "machine"):
            continue
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    assert (node.module, alias.name) not in known, f"{path.name} imports the part {alias.name}"


def modules_of(path: Path) -> set[str]:
    """Modules of the package that a file imports, its names taken for modules where they are."""
    found = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.module.startswith("planner"):
            below = {f"{node.module}.{alias.name}" for alias in node.names} & set(NAMES)
            found |= below or {node.module}
    return found & set(NAMES)


NAMES = {
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): path for path in MODULES
}


def test_no_module_imports_itself_by_way_of_others() -> None:
    """There is no circle of imports, not even inside a room: modules can be put in an order in which each comes later
    than all that it imports."""
    waiting = {name: modules_of(path) - {name} for name, path in NAMES.items()}
    waiting["planner"] = set()  # what it offers to scripts is loaded when it is asked for (tests/test_api.py)
    while waiting:
        ready = {name for name, needs in waiting.items() if not needs & waiting.keys()}
        assert ready, f"a circle among {', '.join(sorted(waiting))}"
        waiting = {name: needs for name, needs in waiting.items() if name not in ready}


SEARCHING = ("search", "cp", "machine", "online")
"""Rooms that make plans."""


def accounting_names(path: Path) -> set[tuple[str, str]]:
    """Modules of accounting/ that a file imports from, each with the name that it takes."""
    return {
        (node.module, alias.name)
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ImportFrom) and node.module is not None and room_of(node.module) == "accounting"
        for alias in node.names
    }


def audit_names() -> set[tuple[str, str]]:
    """Everything that the audit takes from accounting/, itself and by way of what it takes."""
    found: set[tuple[str, str]] = set()
    waiting = {"planner.accounting.audit"}
    while waiting:
        taken = accounting_names(NAMES[waiting.pop()]) - found
        found |= taken
        waiting |= {module for module, _ in taken}
    return found


def test_the_audit_shares_no_code_with_any_search() -> None:
    """What the audit works with is imported by no room that makes plans, and the audit imports none of these rooms.

    Data of domain/ are for both. A search may ask the audit itself.
    """
    of_the_audit = audit_names()
    assert ("planner.accounting.could_have_started", "step_table") in of_the_audit
    assert ("planner.accounting.could_have_started", "Room") in of_the_audit
    for path in MODULES:
        if own_room(path) in SEARCHING:
            shared = accounting_names(path) & of_the_audit
            assert not shared, f"{path.name} in {own_room(path)} shares {sorted(shared)} with the audit"
    for module in {"planner.accounting.audit", *(module for module, _ in of_the_audit)}:
        rooms = {room_of(each) for each in imports_of(NAMES[module]) if each.startswith("planner.")}
        assert not rooms & set(SEARCHING), f"{module} imports from {sorted(rooms & set(SEARCHING))}"
