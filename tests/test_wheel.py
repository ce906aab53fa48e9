"""Claims about the package: its wheel works away from the repository, and names all that it needs."""

from __future__ import annotations

import ast
import os
import re
import site
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest

from tests.doc_commands import follow
from tests.test_architecture import MODULES, PACKAGE, imports_of

ROOT = PACKAGE.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
DISTRIBUTIONS = {"yaml": "pyyaml", "pydantic_core": "pydantic"}
"""Packages that are not called as what is installed, or that come with it."""
GUESTS = {"cplex", "matplotlib", "distributed"}
"""Of the extras; used only where they are installed."""


def _names(requirements: list[str]) -> set[str]:
    return {re.split(r"[<>=\[;! ]", each)[0].lower() for each in requirements}


@pytest.mark.slow
def test_every_package_that_is_imported_is_declared() -> None:
    """As a dependency, or as an extra; and every dependency is imported, or named as one that others load."""
    found = {module.split(".")[0] for path in MODULES for module in imports_of(path)}
    outside = {DISTRIBUTIONS.get(name, name) for name in found - set(sys.stdlib_module_names) - {"planner"}}
    extras = PROJECT["optional-dependencies"]
    optional = _names([each for name, extra in extras.items() if name != "dev" for each in extra])
    assert outside - _names(PROJECT["dependencies"]) <= optional | GUESTS
    assert _names(PROJECT["dependencies"]) - outside == {"tzdata"}


def test_documents_that_messages_name_exist() -> None:
    """Every name that `document` is given is that of a file in docs/, which the wheel carries."""
    given = {
        node.args[0].value
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "document" and node.args
        if isinstance(node.args[0], ast.Constant) and str(node.args[0].value).endswith(".md")
    }
    assert {"jobs-files.md", "snapshots.md", "power.md"} <= given
    for name in given:
        assert (ROOT / "docs" / str(name)).is_file(), name


def test_the_version_is_told_the_same_everywhere() -> None:
    from planner import __version__

    assert f"\n## {__version__} (" in (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text("utf-8")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of a new environment with our wheel; the packages that it needs are those of this one."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    reach = [*pip, "download", "--no-deps", "--no-binary=none", "--retries", "0", "-d", str(folder), "hatchling"]
    if subprocess.run(reach, capture_output=True, check=False, env=plain, timeout=120).returncode:
        pytest.skip("the package registry cannot be reached")
    build = [*pip, "wheel", "--no-deps", "-w", str(folder / "dist"), str(ROOT)]
    subprocess.run(build, check=True, env=plain, timeout=300)
    venv.create(folder / "empty", with_pip=False)
    packages = next((folder / "empty" / "lib").glob("python*")) / "site-packages"
    # A path file of ours is not searched for others, so that an editable install of the repository is not seen.
    (packages / "needs.pth").write_text("\n".join(site.getsitepackages()))
    wheel = next((folder / "dist").glob("hpc_day_planner-*.whl"))
    target = ["install", "--no-deps", "--no-index", "--prefix", str(folder / "empty"), str(wheel)]
    subprocess.run([*pip, *target, "--ignore-installed"], check=True, env=plain, timeout=300)
    return folder / "empty" / "bin"


@pytest.mark.slow
def test_the_wheel_plans_away_from_the_repository(installed: Path, tmp_path: Path) -> None:
    """The first tutorial, and a message that names a document which is there."""
    plain = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PLANNER_DATA")}

    def run(*words: str, code: int = 0) -> str:
        # By the environment's own Python: the first line of a program may be too long for the system.
        called = [str(installed / "python"), "-m", "planner", *words]
        done = subprocess.run(called, capture_output=True, text=True, check=False, env=plain, cwd=tmp_path, timeout=600)
        assert done.returncode == code, done.stderr
        return done.stdout + done.stderr

    where = [str(installed / "python"), "-c", "import planner; print(planner.__file__)"]
    seen = subprocess.run(where, capture_output=True, text=True, check=True, env=plain, cwd=tmp_path).stdout
    assert Path(seen.strip()).is_relative_to(installed.parent)
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "plan").write_text(f'#!/bin/sh\nexec {installed / "python"} -m planner "$@"\n')
    (programs / "plan").chmod(0o755)
    (tmp_path / "empty").mkdir()
    follow(ROOT / "docs/tutorial-first-site.md", tmp_path / "empty", programs, plain)
    (tmp_path / "bad.csv").write_text("job_id,colour\n1,red\n")
    told = run("check", "--day", "2024-06-01", "--jobs", "bad.csv", code=2)
    named = re.search(r"(\S+\.md) lists all", told)
    assert named is not None, told
    assert Path(named[1]).is_file(), told
    docs = run("show", "docs").splitlines()
    assert {path.stem for path in (ROOT / "docs").glob("*.md")} == {line.split()[0] for line in docs}
    assert all(Path(line.rpartition(": ")[2]).is_file() for line in docs)
