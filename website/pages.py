"""What the site has besides the documents of docs/: the README and its like, and the reference, made from the code.

MkDocs calls the functions that begin with ``on_`` (`hooks` in mkdocs.yml).
"""

from __future__ import annotations

import json
import posixpath
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

import reference  # noqa: E402

ELSEWHERE = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "scenarios/README.md": "scenarios.md",
    "tables/README.md": "tables.md",
}
"""Documents that stand elsewhere in the repository, and the pages that they become."""

FILES = ("LICENSE", "tables/air.png", "tables/hybrid.png")
"""Other files of the repository that pages lead to or show."""

WORKER = "iframe-worker.js"
"""Its name tells the plugin `offline` that it need not fetch one of this name from elsewhere."""

_LINK = re.compile(r"(\]\()([^)#\s]+)((?:#[^)\s]*)?\))")
_FILE_NAME = re.compile(r"\[[\w./-]+\.md\](?=\(([^)#\s]+)[)#])")
_CODE = re.compile(r"^(?: {4}|\t)[^\n]*$|^(`{3,})[^\n]*\n.*?^\1$|`[^`\n]+`", re.MULTILINE | re.DOTALL)


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are not in docs/."""
    for source, page in ELSEWHERE.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text("utf-8")))
    for source in FILES:
        files.append(File.generated(config, posixpath.basename(source), content=(ROOT / source).read_bytes()))
    for page, content in reference.pages().items():
        files.append(File.generated(config, page, content=content))
    style = (Path(__file__).parent / "style.css").read_text("utf-8")
    files.append(File.generated(config, "style.css", content=style))
    files.append(File.generated(config, WORKER, content=worker_from_disk(config.theme.dirs)))
    return files


def worker_from_disk(folders: list[str]) -> str:
    """A script that lets the search work on pages from disk.

    There browsers start no worker from a file, so the one of the search is started from its text.
    """
    (source,) = [path for folder in folders for path in Path(folder).glob("assets/javascripts/workers/search.*.min.js")]
    return f"""\
if (location.protocol === "file:") {{
  const text = {json.dumps(source.read_text("utf-8"))};
  const Plain = Worker;
  window.Worker = class extends Plain {{
    constructor() {{ super(URL.createObjectURL(new Blob([text], {{ type: "text/javascript" }}))); }}
  }};
}}
"""


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Let links between files of the repository lead to their pages."""
    sources = {site: source for source, site in ELSEWHERE.items()}
    source = sources.get(page.file.src_uri, f"docs/{page.file.src_uri}")
    kept: list[str] = []

    def keep(code: re.Match[str]) -> str:
        kept.append(code[0])
        return f"\0{len(kept) - 1}\0"

    text = _CODE.sub(keep, markdown)
    text = _FILE_NAME.sub(lambda link: f"[{title(link[1], source)}]", text)
    text = _LINK.sub(lambda link: link[1] + page_of(link[2], source) + link[3], text)
    return re.sub("\0(\\d+)\0", lambda code: kept[int(code[1])], text)


def title(link: str, source: str) -> str:
    """The first heading of the document that a link leads to: on the site, better than the name of its file."""
    path = ROOT / posixpath.normpath(posixpath.join(posixpath.dirname(source), link))
    return path.read_text("utf-8").partition("\n")[0].lstrip("# ") if path.is_file() else link


def page_of(link: str, source: str) -> str:
    """Where a link in a file of the repository leads on the site; links to other hosts stay."""
    if "://" in link or link.startswith("mailto:"):
        return link
    target = posixpath.normpath(posixpath.join(posixpath.dirname(source), link))
    if target in ELSEWHERE:
        return ELSEWHERE[target]
    if target in FILES:
        return posixpath.basename(target)
    return target.removeprefix("docs/")
