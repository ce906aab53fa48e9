"""Claims about the site that `make docs` builds: no broken link, nothing from elsewhere, a reference that is whole."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.test_architecture import PACKAGE

ROOT = PACKAGE.parent
FETCHED = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src", "video": "src"}
"""What a browser fetches by itself, and the attribute that says from where."""
LINKS_ALONE = {"canonical", "prev", "next", "edit"}
"""Relations of a ``link`` that are only said, not fetched."""

pytestmark = pytest.mark.slow


def build(config: Path, out: Path) -> subprocess.CompletedProcess[str]:
    """Build the site as `make docs` does, into another folder."""
    called = [sys.executable, "-m", "mkdocs", "build", "--config-file", str(config), "--site-dir", str(out)]
    return subprocess.run(called, capture_output=True, text=True, check=False, timeout=600)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built site."""
    out = tmp_path_factory.mktemp("site") / "site"
    done = build(ROOT / "website/mkdocs.yml", out)
    assert done.returncode == 0, done.stdout + done.stderr
    return out


class _Fetches(HTMLParser):
    """Addresses that a page fetches by itself."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        if tag in FETCHED and known.get("rel") not in LINKS_ALONE:
            self.addresses.append(known.get(FETCHED[tag]) or "")


def test_every_document_is_a_page(site: Path) -> None:
    """Those of docs/, the README, and the reference."""
    pages = {path.stem for path in site.glob("*.html")}
    assert {path.stem for path in (ROOT / "docs").glob("*.md")} <= pages
    assert {"index", "scenarios", "tables", "changelog", "contributing", "reference-command-line"} <= pages


def test_nothing_comes_from_elsewhere(site: Path) -> None:
    """Scripts, styles, fonts and pictures are all beside the pages: the site works from disk without a network."""
    seen = 0
    for page in site.rglob("*.html"):
        for address in _Fetches(page.read_text("utf-8")).addresses:
            if address.startswith("data:") or not address:
                continue
            assert not re.match(r"(?:[a-z]+:)?//", address), f"{page.name}: {address}"
            path = re.split(r"[?#]", address)[0]
            place = site / path[1:] if path.startswith("/") else page.parent / path  # the first only on a server: 404
            assert place.exists(), f"{page.name}: {address}"
            seen += 1
    assert seen > 100
    for style in site.rglob("*.css"):
        assert not re.search(r"(?:@import|url\()\s*[\"']?(?:https?:)?//", style.read_text("utf-8")), style.name


def test_code_and_tables_are_drawn(site: Path) -> None:
    """No list, table or fence that the site's Markdown reads otherwise than that of the repository."""
    for page in site.glob("*.html"):
        text = re.sub(r"<(pre|code)\b.*?</\1>", "", page.read_text("utf-8"), flags=re.DOTALL)
        assert "```" not in text, page.name
        assert not re.search(r"<p>[^<]*\n(?:- |\d\. |\| )", text), page.name


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("reference-command-line", ["plan slurm snapshot", "--bound-time", "plan study operation"]),
        ("reference-exit-codes", ["143", "bad input"]),
        ("reference-input-columns", ["submit_unix", "gpus_per_unit", "energy_j", "maintenance"]),
        ("reference-output-columns", ["unit_nodes", "planned_start", "battery_kwh"]),
        ("reference-json", ["totals.profit_eur", "easy.waits.p95_s", "scenario.cluster.classes[].idle_w"]),
        ("reference-methods", ["harvest", "search.harvest.heat", "+latest-start"]),
        ("reference-policies", ["conservative", "last2"]),
        ("reference-metrics", ["bsld", "cooling_kwh"]),
        ("scenarios", ["cluster.classes.&lt;class&gt;.count"]),
    ],
)
def test_the_reference_is_made_from_the_code(site: Path, page: str, words: list[str]) -> None:
    """Each page has what only the code knows."""
    text = (site / f"{page}.html").read_text("utf-8")
    assert not [word for word in words if word not in text]


def test_a_broken_link_is_an_error(tmp_path: Path) -> None:
    """To a page, to a part of one, and a document without a place in the navigation."""
    for name in ("website", "docs", "scenarios", "tables"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path / name)
    with (tmp_path / "docs/install.md").open("a", encoding="utf-8") as stream:
        stream.write("\n[gone](gone.md), [no part](outputs.md#gone), [neither](../gone/README.md)\n")
    (tmp_path / "docs/lost.md").write_text("# Lost\n", encoding="utf-8")
    done = build(tmp_path / "website/mkdocs.yml", tmp_path / "out")
    told = done.stdout + done.stderr
    assert done.returncode != 0
    for words in ("'gone.md'", "outputs.md#gone", "gone/README.md", "lost.md"):
        assert words in told, told
