"""Damage to files whatever their format: bytes, lines, encodings, packing, and things that are no files."""

from __future__ import annotations

import gzip
import lzma
import random
from collections.abc import Callable
from pathlib import Path


def _cut(rng: random.Random, data: bytes) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _flip(rng: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice([1, 1, 3, 20])):
        if changed:
            changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def _insert(rng: random.Random, data: bytes) -> bytes:
    place = rng.randrange(len(data) + 1)
    odd = [b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\x1b[2J", b"\r", b"\x0c", b"\x1a", b'"', b"'", b"\xc2\x85", b"\x80"]
    return data[:place] + rng.choice(odd) * rng.choice([1, 1, 2, 1000]) + data[place:]


def _lines(rng: random.Random, data: bytes) -> bytes:
    lines = data.split(b"\n")
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(7):
        case 0:
            lines[one], lines[other] = lines[other], lines[one]
        case 1:
            lines.insert(one, lines[other])
        case 2:
            del lines[one]
        case 3:
            lines[one] = lines[one][: rng.randrange(len(lines[one]) + 1)]
        case 4:
            lines[one] *= rng.choice([2, 50])
        case 5:
            lines.insert(one, rng.choice([b"", b"   ", b"\t", b"#", b";", b",,,,", b"---", b"\x00"]))
        case _:
            rng.shuffle(lines)
    return b"\n".join(lines)


_WHOLE: tuple[Callable[[bytes], bytes], ...] = (
    lambda data: b"",
    lambda data: b"\n",
    lambda data: b"\x00" * 64,
    lambda data: b"\xef\xbb\xbf" + data,
    lambda data: b"\xef\xbb\xbf" * 2 + data,
    lambda data: data.replace(b"\n", b"\r\n"),
    lambda data: data.replace(b"\n", b"\r"),
    lambda data: data.rstrip(b"\n"),
    lambda data: data.replace(b",", b";"),
    lambda data: data.replace(b",", b"\t"),
    lambda data: data.replace(b".", b","),
    lambda data: data.decode("utf-8", "replace").encode("utf-16"),
    lambda data: data.decode("utf-8", "replace").encode("utf-16-le"),
    lambda data: data.decode("utf-8", "replace").encode("latin-1", "replace") + b"\xe9",
    lambda data: data + data,
    lambda data: data[::-1],
    gzip.compress,
)


def _whole(rng: random.Random, data: bytes) -> bytes:
    return rng.choice(_WHOLE)(data)


def damaged(rng: random.Random, data: bytes) -> bytes:
    """The bytes of a file with something wrong."""
    return rng.choice([_cut, _flip, _insert, _lines, _lines, _whole])(rng, data)


def put(rng: random.Random, path: Path, data: bytes) -> Path:
    """Write a file, now and then damaged, packed or not there at all; returns where it is."""
    if rng.random() < 0.25:
        data = damaged(rng, data)
    chance = rng.random()
    if chance < 0.01:
        path.unlink(missing_ok=True)
        path.mkdir()
        return path
    if chance < 0.02:
        path.unlink(missing_ok=True)
        path.symlink_to(path.name)
        return path
    if chance < 0.12:
        suffix, pack = rng.choice([(".gz", gzip.compress), (".xz", lzma.compress)])
        packed = pack(data) if rng.random() < 0.9 else data
        if rng.random() < 0.3:
            packed = damaged(rng, packed)
        path, data = path.with_name(path.name + suffix), packed
    path.write_bytes(data)
    return path
