"""Claims about code of the current folder: whatever stands there, none of it runs and no setting of it counts."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from tests.days import DAY, write_small_site
from tests.planning.test_compile_first import sample_problem

FIRED = "fired"
SHADOWS = (
    *("planner", "numpy", "pandas", "numba", "joblib", "docplex", "ortools", "pydantic", "yaml", "rich", "typer"),
    *("json", "pickle", "tempfile", "multiprocessing", "subprocess", "sitecustomize", "usercustomize", "_loky", "csv"),
)
"""Modules that the planner loads sooner or later, some by way of other processes."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A site in a folder with modules of these names, and with the files that libraries take settings from."""
    site = write_small_site(tmp_path / "site")
    (site / "scenarios" / "other.yaml").write_text("base: site\ndescription: the same\n")
    fire = f"open({str(tmp_path / FIRED)!r}, 'a').write(__name__ + '\\n')\n"
    for name in SHADOWS:
        (site / name).mkdir()
        (site / name / "__init__.py").write_text(fire)
        (site / f"{name}.py").write_text(fire)
    for name in ("cpo_config.py", f"cpo_config_{os.uname().nodename}.py"):
        (site / name).write_text(fire)
    (site / ".numba_config.yaml").write_text("cpu_name: no-such-processor\ndisable_jit: 1\n")
    (site / "matplotlibrc").write_text("backend: module://planner\n")
    return site


def unfired(folder: Path) -> bool:
    """Whether nothing of the folder has run."""
    return not (folder.parent / FIRED).exists()


BESIDE = """
import pickle, sys
from planner.planning import compile_first as ready
with ready._compiling_beside(pickle.load(sys.stdin.buffer)):
    pass
"""
PLAN = "from planner.__main__ import main; main()"
COMMANDS = {
    "engine": (PLAN, "--day", DAY, "-m", "cp", "--engine", "cpsat", "--bound-time", "0", "--time-limit", "1s", "-q"),
    "processes": (PLAN, "compare", "site", "other", "--day", DAY, "-m", "est", "--processes", "2", "-q"),
    "picture": (
        PLAN,
        "table",
        "build",
        "--out",
        "t.csv",
        "--plant",
        "air",
        "--max-power-kw",
        "3",
        "--picture",
        "t.png",
    ),
    "beside": (BESIDE,),
}


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("name", COMMANDS)
def test_code_of_the_current_folder_does_not_run(folder: Path, name: str) -> None:
    """By none of the ways in which the planner loads code: libraries, engines, processes beside it, settings."""
    words = [sys.executable, "-P", "-c", *COMMANDS[name]]
    given = pickle.dumps(sample_problem()) if name == "beside" else b""
    surroundings = {key: value for key, value in os.environ.items() if key != "PYTHONSAFEPATH"}
    done = subprocess.run(words, cwd=folder, input=given, env=surroundings, capture_output=True, check=False)
    assert unfired(folder), (folder.parent / FIRED).read_text()
    assert done.returncode == 0, done.stderr.decode()


def test_the_module_loads_nothing_more_of_the_current_folder(folder: Path) -> None:
    """`python -m planner` is begun with the current folder first among those of modules, and ends that at once."""
    shown = (
        "import sys, planner.__main__ as m; m.sys.argv = ['plan', '--version']\ntry: m.main()\nexcept SystemExit: pass"
    )
    check = f"{shown}\nassert '' not in sys.path, sys.path\nassert sys.path[0] != {str(folder)!r}"
    done = subprocess.run([sys.executable, "-c", f"import os, sys; import planner; os.chdir({str(folder)!r}); {check}"],
                          cwd="/", capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
