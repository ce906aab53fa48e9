"""Where the files that ship with the planner are."""

from __future__ import annotations

from pathlib import Path


def shipped_folder() -> Path:
    """The folder that holds ``tables/`` and ``scenarios/``.

    An installed wheel carries them in ``planner/shipped``; a checkout has them beside the package.
    """
    package = Path(__file__).resolve().parent
    inside = package / "shipped"
    return inside if inside.is_dir() else package.parent


def scenario_folders(cwd: Path) -> list[Path]:
    """Folders in which a scenario's name is looked up, the site's own before the shipped ones."""
    own, shipped = cwd / "scenarios", shipped_folder() / "scenarios"
    if own.is_dir() and own.resolve() != shipped.resolve():
        return [own, shipped]
    return [shipped]
