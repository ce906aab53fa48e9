"""What installing the planner costs: megabytes to download and on disk, and seconds, package by package.

    python benchmarks/install_size.py                  # what `pip install .` brings
    python benchmarks/install_size.py parquet dask   # and what these extras add to it
    python benchmarks/install_size.py --keep DIR       # leave the wheels and the environment in DIR

Two steps, each timed: `pip wheel` fetches every package anew, past pip's cache, and builds the planner itself; `pip
install` puts the wheels into an empty environment. Megabytes are millions of bytes: of the wheels, and of the files
that each package lists as its own once it is installed, with what Python compiled of them. Only the second step is
the machine's alone: the first takes as long as the way to the package registry does.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
import venv
from importlib.metadata import Distribution, distributions
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SMALL_MB = 5.0
"""Packages below this share one line."""


def main() -> None:
    """Print the table of the default installation, and of each extra that is named."""
    parser = argparse.ArgumentParser(description="Measure what installing the planner costs.")
    parser.add_argument("extras", nargs="*", help="extras of pyproject.toml to measure too")
    parser.add_argument("--keep", type=Path, help="a folder for the wheels and the environment")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = asked.keep or Path(name)
        base = install(folder / "plain")
        print_table("pip install .", base, base)
        for extra in asked.extras:
            more = install(folder / extra, extra)
            print_table(f"[{extra}] adds", more, {key: more[key] for key in more.keys() - base.keys()})


def install(folder: Path, extra: str = "") -> dict[str, tuple[float, float]]:
    """Megabytes of the wheel and on disk of every package of a new environment; prints how long it took."""
    wheels, place = folder / "wheels", folder / "env"
    what = f"{ROOT}[{extra}]" if extra else str(ROOT)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    fetch_s = timed([*pip, "wheel", "--no-cache-dir", "--wheel-dir", str(wheels), what])
    venv.create(place, with_pip=False)
    files = sorted(map(str, wheels.glob("*.whl")))
    install_s = timed([*pip, "--python", str(place / "bin" / "python"), "install", "--no-deps", "--no-index", *files])
    packages = next((place / "lib").glob("python*")) / "site-packages"
    fetched = {normal(Path(file).name.split("-")[0]): Path(file).stat().st_size / 1e6 for file in files}
    found = {normal(each.name): on_disk(each) for each in distributions(path=[str(packages)])}
    print(f"{what}: fetched in {fetch_s:.0f} s, installed in {install_s:.0f} s")
    return {name: (fetched[name], found[name]) for name in sorted(found)}


def timed(command: list[str]) -> float:
    """Run a command; how long it took [s]."""
    began = time.perf_counter()
    subprocess.run(command, check=True)
    return time.perf_counter() - began


def on_disk(package: Distribution) -> float:
    """Megabytes of the files that a package has put into its environment."""
    paths = {Path(str(package.locate_file(file))).resolve() for file in package.files or ()}
    return sum(path.stat().st_size for path in paths if path.is_file()) / 1e6


def normal(name: str) -> str:
    """The name of a package, however it is spelt."""
    return name.lower().replace("_", "-").replace(".", "-")


def print_table(title: str, whole: dict[str, tuple[float, float]], shown: dict[str, tuple[float, float]]) -> None:
    """Packages by size on disk, the small ones in one line, and their sum."""
    large = sorted((name for name in shown if shown[name][1] >= SMALL_MB), key=lambda name: -shown[name][1])
    small = sorted(shown.keys() - set(large))
    rows = [(name, *shown[name]) for name in large]
    if small:
        rows.append((f"{len(small)} below {SMALL_MB:g} MB", *total(shown, small)))
    rows.append((f"all {len(shown)}", *total(shown, list(shown))))
    print(f"\n{title}\n\n{'package':28s} {'download MB':>12s} {'on disk MB':>12s}")
    for name, fetched, held in rows:
        print(f"{name:28s} {fetched:12.1f} {held:12.1f}")
    if small:
        print(f"small: {', '.join(small)}")
    if shown is not whole:
        print(f"with it: {total(whole, list(whole))[0]:.0f} MB to download, {total(whole, list(whole))[1]:.0f} on disk")
    print()


def total(packages: dict[str, tuple[float, float]], names: list[str]) -> tuple[float, float]:
    """Sums over some packages."""
    return sum(packages[name][0] for name in names), sum(packages[name][1] for name in names)


if __name__ == "__main__":
    main()
