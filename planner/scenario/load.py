"""Scenario files: found by name or path, layered over their bases, overridden, checked in one go and resolved."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

from planner.errors import FileFormatError, InputError, ScenarioError
from planner.places import full_path, is_file
from planner.printable import is_text
from planner.scenario.strict_yaml import Marked, TextSource, parse_yaml, plain, read_yaml
from planner.scenario.words import guess

if TYPE_CHECKING:
    from planner.scenario.schema import Scenario

MOST_BASES = 50
_OWN = ("name", "description")
"""Keys that say what one file is, and so are not taken from a base."""

UNTIL_SLURM_SAYS = {"classes": {"slurm": {"count": 1, "capacity": {"cores": 1}}}, "down": None}
"""The nodes of a scenario whose jobs come from Slurm: it has those of Slurm, once that is read, and their states."""


def load_scenario(name_or_path: str | Path, *, folders: Sequence[Path], overrides: Sequence[str] = ()) -> Scenario:
    """The scenario of that name or in that file, checked; ScenarioError lists all that is wrong with it.

    Names are looked up as ``<folder>/<name>.yaml``. ``overrides`` are texts such as ``tariff.kind=hourly``.
    """
    return resolve(read_spec(name_or_path, folders=folders, overrides=overrides))


def known_scenarios(folders: Iterable[Path]) -> dict[str, Path]:
    """Names of all scenarios in the folders, with their files; an earlier folder hides a later one."""
    found: dict[str, Path] = {}
    for folder in folders:
        for path in sorted(folder.glob("*.yaml")):
            found.setdefault(path.stem, path)
    return dict(sorted(found.items()))


def find_scenario(name_or_path: str | Path, folders: Sequence[Path]) -> Path:
    """The file of a scenario; InputError with the known names when there is none."""
    if isinstance(name_or_path, Path) or is_path(name_or_path):
        path = at_home(Path(name_or_path))
        if not is_file(path):
            raise InputError(f"{path}: no such scenario file")
        if not is_text(str(full_path(path))):
            raise InputError(f"{full_path(path)} is not UTF-8 text; use names that are")
        return path
    known = known_scenarios(folders)
    if name_or_path not in known:
        listed = f"known: {', '.join(known)}" if known else f"none are in {', '.join(map(str, folders))}"
        hint = " ".join(filter(None, [guess(name_or_path, known), listed]))
        raise InputError(f"unknown scenario {name_or_path!r}; {hint}; or give a path that ends in .yaml")
    return known[name_or_path]


def at_home(path: Path) -> Path:
    """The path with ~ replaced by the home folder, where there is one."""
    try:
        return path.expanduser()
    except RuntimeError:
        return path


def is_path(text: str) -> bool:
    """Whether a text means a file, and not the name of a scenario."""
    return text.endswith((".yaml", ".yml")) or "/" in text or "\\" in text


@dataclass(frozen=True)
class ScenarioSpec:
    """A scenario as it was written: all layers merged, each value still with its file and line.

    ``sources`` are the files, the scenario's own first and the most basic last.
    """

    name: str
    sources: tuple[Path, ...]
    written: Marked

    def as_dict(self) -> object:
        """The merged mapping without its marks."""
        return self.written.plain()


def read_spec(name_or_path: str | Path, *, folders: Sequence[Path], overrides: Sequence[str] = ()) -> ScenarioSpec:
    """The scenario as written: its file over its bases, and the overrides over all.

    Names are looked up as ``<folder>/<name>.yaml``. ``overrides`` are texts such as ``tariff.kind=hourly``.
    """
    layers = _chain(find_scenario(name_or_path, folders), folders)
    sources = tuple(Path(layer.source.label) for layer in layers)
    top, bases = layers[0], [_without(layer, _OWN) for layer in layers[1:]]
    merged = Marked({}, top.source)
    # All overrides are one layer, so that their order does not matter.
    for layer in [*reversed(bases), top, reduce(_merge, map(_override, overrides), Marked({}, top.source))]:
        merged = _over(merged, layer)
    # Problems of the scenario as a whole, such as a missing section, belong to its own file.
    written = dataclasses.replace(_without(merged, ("base",)), source=top.source, line=1)
    return ScenarioSpec(sources[0].stem, tuple(full_path(path) for path in sources), written)


def resolve(spec: ScenarioSpec) -> Scenario:
    """The scenario of a spec; ScenarioError lists every problem."""
    from pydantic import ValidationError

    from planner.scenario.problem_lines import problem_lines
    from planner.scenario.schema import Scenario

    entries = {"name": Marked(spec.name, spec.written.source)} | dict(spec.written.entries() or {})
    written = dataclasses.replace(spec.written, value=entries)
    try:
        return Scenario.model_validate(_whole(written), context={"sources": spec.sources})
    except ValidationError as error:
        raise ScenarioError(f"scenario {spec.name}", problem_lines(error, written)) from None


def _whole(written: Marked) -> dict[str, object]:
    """The scenario with an empty section for each that is not there, so that what it lacks is named key by key."""
    from planner.scenario.reference import behind
    from planner.scenario.schema import KINDS, Scenario

    fields = Scenario.model_fields.items()
    sections = [name for name, field in fields if name in KINDS or behind(field)[0] == "section"]
    given = plain(written)
    assert isinstance(given, dict)
    whole = {**given, **{name: {} for name in sections if given.get(name) is None}}
    for name, kinds in KINDS.items():
        if isinstance(whole[name], dict):
            # A null says nothing, also where another kind has the key.
            words = kinds.words()
            whole[name] = {word: value for word, value in whole[name].items() if value is not None or word not in words}
    if (
        isinstance(whole["jobs"], dict)
        and whole["jobs"].get("source") == "slurm"
        and isinstance(whole["cluster"], dict)
    ):
        whole["cluster"] = {**whole["cluster"], **UNTIL_SLURM_SAYS}
    return whole


def _chain(path: Path, folders: Sequence[Path]) -> list[Marked]:
    """The file and its bases, each after the one that builds on it."""
    layers: list[Marked] = []
    trail: list[Path] = []
    place = ""
    while True:
        trail.append(full_path(path))
        if trail[-1] in trail[:-1]:
            names = " -> ".join(file.name for file in trail)
            raise ScenarioError(f"scenario {trail[0].stem}", [f"{place}: base: {names} is a circle; break it"])
        if len(layers) >= MOST_BASES:
            raise ScenarioError(f"scenario {trail[0].stem}", [f"{place}: base: more than {MOST_BASES} in a row"])
        layer = read_yaml(path)
        if layer.value is None:
            layer = dataclasses.replace(layer, value={})
        entries = layer.entries()
        if entries is None:
            raise FileFormatError(path, "a scenario is made of keys and values", line=layer.line)
        layers.append(layer)
        base = entries.get("base")
        if base is None or base.value is None:
            return layers
        place = base.where
        path = _base_file(base, path, folders)


def _base_file(base: Marked, path: Path, folders: Sequence[Path]) -> Path:
    if not isinstance(base.value, str):
        raise FileFormatError(
            path, "base must be one name or path", line=base.line, remedy="write base: sample; bases can chain"
        )
    try:
        if is_path(base.value):
            return find_scenario(path.parent / at_home(Path(base.value)), folders)
        # A site's own sample.yaml may build on the shipped sample: a file is not looked up as its own base.
        hiding = [folder for folder in (path.parent, *folders) if _file_in(folder, base.value) != full_path(path)]
        return find_scenario(base.value, hiding if known_scenarios(hiding).get(base.value) else [path.parent])
    except InputError as error:
        raise FileFormatError(path, f"base: {error}", line=base.line) from None


def _file_in(folder: Path, name: str) -> Path:
    return full_path(folder / f"{name}.yaml")


def _override(text: str) -> Marked:
    """The mapping that an override such as ``tariff.kind=hourly`` means."""
    dotted, equals, value = text.partition("=")
    words = [word.strip() for word in dotted.split(".")]
    if not equals or not all(words):
        raise InputError(f"--set {text}: expected key=value; write, for example, --set tariff.eur_per_kwh=0.2")
    if words == ["base"]:
        raise InputError(f"--set {text}: base cannot be set; choose the scenario by its name or path")
    source = TextSource(f"--set {text}", Path.cwd(), numbered=False)
    entry = parse_yaml(value, source)
    for word in reversed(words):
        entry = Marked({word: entry}, source)
    return entry


def _over(base: Marked, layer: Marked) -> Marked:
    """A layer over all before it: where it chooses another kind of a section, keys of the kind before do not stay."""
    from planner.scenario.schema import KINDS, RIVALS

    before = dict(base.entries() or {})
    for name, section in (layer.entries() or {}).items():
        earlier, later = _values(before.get(name)), _values(section)
        gone = KINDS[name].replaced_by(later, earlier) if name in KINDS and later else set()
        for one, other in (RIVALS[name], RIVALS[name][::-1]) if name in RIVALS else ():
            gone |= {other} if later.get(one) is not None else set()
        if gone & set(earlier):
            before[name] = _without(before[name], gone)
    return _merge(dataclasses.replace(base, value=before), layer)


def _values(section: Marked | None) -> dict[str, object]:
    """The values of a section by their keys; none where it is no section."""
    entries = None if section is None else section.entries()
    return {word: entry.value for word, entry in (entries or {}).items()}


def _merge(base: Marked, child: Marked) -> Marked:
    """The child over the base: mappings key by key, anything else replaced; a blank says nothing."""
    below, above = base.entries(), child.entries()
    if below is None or above is None:
        return child
    if child.blank:
        return base
    merged = dict(below)
    for word, entry in above.items():
        merged[word] = _merge(merged[word], entry) if word in merged else entry
    return Marked(merged, child.source, child.line)


def _without(entry: Marked, words: Collection[str]) -> Marked:
    kept = {word: value for word, value in (entry.entries() or {}).items() if word not in words}
    return dataclasses.replace(entry, value=kept)
