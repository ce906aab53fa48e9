"""Mutations of trees: keys and values of YAML and JSON, and of their text."""

from __future__ import annotations

import copy
import random
from typing import Any

import yaml

from tests.fuzz.odd import odd_number, odd_value, odd_word

Tree = dict[str, Any]


def mutated(rng: random.Random, tree: Tree) -> Tree:
    """The tree with one to three things changed."""
    tree = copy.deepcopy(tree)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        _change(rng, tree)
    return tree


def _change(rng: random.Random, tree: Tree) -> None:
    places = list(_places(tree))
    if not places:
        tree[odd_word(rng)] = odd_value(rng)
        return
    holder, key = rng.choice(places)
    match rng.randrange(10):
        case 0 | 1 | 2 | 3:
            holder[key] = odd_value(rng)
        case 4:
            holder[key] = Written(odd_number(rng))
        case 5:
            del holder[key]
        case 6 if isinstance(holder, dict):
            holder[odd_word(rng)] = holder.pop(key)
        case 7 if isinstance(holder, dict):
            holder[odd_word(rng)] = odd_value(rng)
        case 8:
            other_holder, other_key = rng.choice(places)
            holder[key] = copy.deepcopy(other_holder[other_key])
        case _:
            holder[key] = rng.choice([[holder[key]], {"a": holder[key]}, [], {}, None, str(holder[key])])


def _places(tree: Any) -> Any:
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        yield tree, key
        yield from _places(value)


class Written(str):
    """Text that YAML gets without quotes."""


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: object) -> bool:
        return True


_Dumper.add_representer(
    Written, lambda dumper, text: yaml.ScalarNode("tag:yaml.org,2002:" + _tag(str(text)), str(text), style=None)
)


def _tag(text: str) -> str:
    found = yaml.SafeLoader("").resolve(yaml.ScalarNode, text, (True, False))
    return str(found).removeprefix("tag:yaml.org,2002:")


def yaml_text(rng: random.Random, tree: Tree) -> str:
    """The tree as YAML, in block or flow style."""
    flow = rng.choice([None, False, True])
    return str(
        yaml.dump(tree, Dumper=_Dumper, default_flow_style=flow, sort_keys=False, allow_unicode=rng.random() < 0.5)
    )


SNIPPETS = (
    "a: &a [x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b]\n"
    "d: &d [*c, *c, *c, *c, *c, *c, *c]\ne: &e [*d, *d, *d, *d, *d, *d, *d]\nf: &f [*e, *e, *e, *e, *e, *e, *e]\n"
    "g: &g [*f, *f, *f, *f, *f, *f, *f, *f]\nname: [*g, *g, *g, *g]\n",
    "x: &x {a: *x}\n",
    "<<: {seed: 5}\n",
    "<<: *nothing\n",
    "seed: !!int five\n",
    "seed: !!python/object/apply:os.system [ls]\n",
    "seed: !!binary aGk=\n",
    "seed: !!float 1\n",
    "seed: !!set {a, b}\n",
    "? [a, b]\n: c\n",
    "? seed\n: 4\n",
    "seed: 1\nseed: 2\n",
    "---\nseed: 1\n",
    "...\nseed: 1\n",
    "%YAML 9.9\n---\nseed: 1\n",
    "\tseed: 1\n",
    'name: "\\ud800"\n',
    'name: "\\0"\n',
    'name: "\\e[31m"\n',
    'description: "\\x07\\x9b"\n',
    "description: |\n  a\n\n  b\n",
    "[" * 3000,
    "{a: " * 3000,
    "- " * 2000 + "\n",
    "a" * 100_000 + ": 1\n",
    "seed: " + "9" * 5000 + "\n",
    "seed: 0x" + "f" * 5000 + "\n",
    "seed: 1e99999999\n",
    "seed: 2024-99-99\n",
    "seed: 2024-06-01T10:00:00\n",
    "zone: ../../../etc/passwd\n",
    "zone: Europe\n",
    "zone: 'Europe/Paris\\0'\n",
    "zone: /etc/localtime\n",
    "base: site\n",
    "base: ../scenarios/site.yaml\n",
    "base: [a]\n",
    "base: 'x\\0y'\n",
    "base: nowhere\n",
    "base: ''\n",
    "'': 1\n",
    "'.': 1\n",
    "null: 1\n",
    "5: 1\n",
)


def mutated_text(rng: random.Random, text: str) -> str:
    """The text with a snippet added, a piece taken out, or a word replaced."""
    lines = text.split("\n")
    place = rng.randrange(len(lines) + 1)
    match rng.randrange(4):
        case 0 | 1:
            return "\n".join([*lines[:place], rng.choice(SNIPPETS).rstrip("\n"), *lines[place:]])
        case 2:
            at = rng.randrange(len(text) + 1)
            return text[:at] + text[at + rng.randrange(20) :]
        case _:
            at = rng.randrange(len(text) + 1)
            return (
                text[:at] + rng.choice(["&a ", "*a ", "!!str ", "! ", "|", "- ", ": ", "#", odd_word(rng)]) + text[at:]
            )
