"""What a reader kept, repaired and dropped, with reasons."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Intake:
    """Counts of what came out of one source; readers fill it and the run shows it.

    ``repaired`` and ``dropped`` count by reason, such as ``{"requested time missing: runtime taken": 12}``. Of
    the notes, ``alerts`` are told on the terminal too: somebody may have to do something.
    """

    source: str
    kept: int = 0
    repaired: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    alerts: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """The counts as short lines of text."""
        text = [f"{self.source}: {self.kept} kept"]
        text += [f"  {count} repaired: {reason}" for reason, count in sorted(self.repaired.items())]
        text += [f"  {count} dropped: {reason}" for reason, count in sorted(self.dropped.items())]
        return text + [f"  {note}" for note in (*self.alerts, *self.notes)]

    def as_dict(self) -> dict[str, object]:
        """The same as plain data, for JSON."""
        return {
            "source": self.source,
            "kept": self.kept,
            "repaired": dict(sorted(self.repaired.items())),
            "dropped": dict(sorted(self.dropped.items())),
            "notes": [*self.alerts, *self.notes],
        }
