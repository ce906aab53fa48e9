"""A figure along the axis of its page: what the script draws, and the element that it is drawn in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from planner.pages.markup import Html, el


@dataclass(frozen=True)
class Panel:
    """A figure: its id, its title, how to read it aloud, and its layers as the script takes them."""

    id: str
    title: str
    aloud: str
    layers: list[dict[str, Any]]
    height: int = 150
    zero: bool = True
    extra: dict[str, Any] = field(default_factory=dict)

    def spec(self) -> dict[str, Any]:
        """The figure for the script."""
        return {"id": self.id, "height": self.height, "zero": self.zero, "layers": self.layers, **self.extra}

    def html(self) -> Html:
        """The element that the script draws in."""
        marks = [
            el(
                "span",
                el("i", class_=_mark(layer), style=f"--c:var(--{layer['colour']})"),
                layer["name"],
            )
            for layer in self.layers
        ]
        label = f"{self.title}. {self.aloud} Arrow keys read it step by step; plus and minus zoom; 0 shows all."
        plot = el(
            "div", class_="plot", role="application", tabindex=0, aria_label=label, style=f"height:{self.height}px"
        )
        return el("figure", el("figcaption", self.title, el("span", marks, class_="legend")), plot, id=self.id)


def _mark(layer: dict[str, Any]) -> str | None:
    return None if layer["kind"] == "stack" else "dash" if layer.get("dash") else "thin"


def layer(
    kind: str, grid: str, name: str, colour: str, values: Sequence[float | None], unit: str, digits: int, **more: Any
) -> dict[str, Any]:
    """One layer: ``stack``, ``step`` or ``line`` over the pieces of a grid; None is a gap in a step or line."""
    named = {"kind": kind, "grid": grid, "name": name, "colour": colour, "values": list(values)}
    return {**named, "unit": unit, "digits": digits, **more}
