"""Amounts as Slurm writes them: ``cpu=128,mem=125G,node=4,gres/gpu:a100=8``, ``gres:gpu:4``, ``gpu:a100:4(S:0-1)``."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from planner.errors import InputError
from planner.printable import one_line

_MEMORY = re.compile(r"(\d{1,15})(?:\.(\d{1,6}))?([KMGTP]?)", re.ASCII)
_MB = {"K": 1 / 1024, "": 1.0, "M": 1.0, "G": 1024.0, "T": 1024.0**2, "P": 1024.0**3}
_COUNT = re.compile(r"\d{1,15}", re.ASCII)
_BRACKETS = re.compile(r"\([^()]*\)")
_GRES = re.compile(r"gres[:/]")


@dataclass(frozen=True, slots=True)
class Amounts:
    """Amounts of all nodes together; None where a text does not have them."""

    nodes: int | None = None
    cpus: int | None = None
    memory_mb: int | None = None
    gpus: int | None = None


@dataclass(frozen=True, slots=True)
class Gres:
    """Generic resources of a text.

    Attributes
    ----------
    gpus
        GPUs; 0 where there are none.
    gpu_type
        Their type where it is said, several with commas between them.
    others
        Everything else, as written.
    """

    gpus: int = 0
    gpu_type: str = ""
    others: tuple[str, ...] = ()


def parse_tres(text: str) -> Amounts:
    """The amounts of a text such as ``cpu=128,mem=125G,node=4``; those that it does not have are None."""
    found = {}
    for item in text.split(",") if text else ():
        name, equals, amount = item.partition("=")
        if not equals:
            raise InputError(f"'{one_line(item, 40)}' is no amount; expected text such as cpu=128,mem=125G,node=4")
        found[name.strip()] = amount.strip()
    typed = [_count(found, name) or 0 for name in found if name.startswith("gres/gpu:")]
    # GPUs stand there with and without their type: each counts once.
    gpus = _count(found, "gres/gpu") if "gres/gpu" in found or not typed else sum(typed)
    return Amounts(_count(found, "node"), _count(found, "cpu"), _memory_mb(found), gpus)


def parse_gres(text: str, *, bare: bool = False) -> Gres:
    """GPUs and other generic resources in any of Slurm's spellings.

    Parameters
    ----------
    text
        As Slurm writes it; CPUs and memory in it are left out.
    bare
        Whether everything in it is a generic resource, also without ``gres/`` before it, as for nodes.
    """
    if not text:
        return Gres()
    gpus, types, others = 0, [], []
    for item in _BRACKETS.sub("", text).split(","):
        prefix = _GRES.match(item.strip())
        name, *rest = item.strip()[prefix.end() if prefix else 0 :].replace("=", ":").split(":")
        if name == "gpu":
            gpus += int(rest.pop()) if rest and _COUNT.fullmatch(rest[-1]) else 1
            types += [each for each in rest if each]
        elif name and name != "none" and (prefix or bare):
            others.append(item.strip())
    return Gres(gpus, ",".join(sorted(set(types))), tuple(others))


def _count(found: Mapping[str, str], name: str) -> int | None:
    if name not in found:
        return None
    if not _COUNT.fullmatch(found[name]):
        raise InputError(f"{name} is '{one_line(found[name], 40)}', expected a whole number")
    return int(found[name])


def _memory_mb(found: Mapping[str, str]) -> int | None:
    """Rounded up."""
    if "mem" not in found:
        return None
    match = _MEMORY.fullmatch(found["mem"])
    if match is None:
        raise InputError(f"mem is '{one_line(found['mem'], 40)}', expected an amount such as 8000M or 62.50G")
    return math.ceil(float(f"{match[1]}.{match[2] or 0}") * _MB[match[3]])
