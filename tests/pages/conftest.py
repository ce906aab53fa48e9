"""A real browser without network, and days whose pages it opens."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.days import DAY, plan, write_small_site
from tests.made_once import made_once
from tests.pages.study_pages import page_paths, write_pages

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
HOSTILE = "<script>alert(1)</script>"
OWNED = "</script><script>document.title='owned'</script>"

PATIENCE_MS = 300_000
"""A page may take long on a machine that others keep busy; what is looked at is what it shows."""

Opener = Callable[..., Page]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The system's chromium; tests are skipped where there is none."""
    found = [shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")]
    path = next((each for each in found if each), None)
    if path is None:
        pytest.skip("no chromium on this machine; .ci/packages installs Debian's")
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=path, headless=True, args=list(FLAGS))
        yield started
        started.close()


@pytest.fixture(scope="session")
def window(browser: Browser) -> tuple[Page, list[str]]:
    """One window with the network off for all pages, as a new one takes longer than most pages; and its complaints.

    These are whatever a page writes to the console, fetches from elsewhere, or asks of the user.
    """
    complaints: list[str] = []
    context = browser.new_context(offline=True)
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    page.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: (complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    page.on(
        "request",
        lambda request: (
            None if request.url.startswith(("file:", "data:", "about:")) else complaints.append(request.url)
        ),
    )
    return page, complaints


@pytest.fixture
def open_page(window: tuple[Page, list[str]]) -> Iterator[Opener]:
    """Opens a file, one at a time; at the end nothing was complained of."""
    page, complaints = window

    def opened(path: Path, *, width: int = 1400, scheme: str = "light") -> Page:
        page.goto("about:blank")
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(media="null", color_scheme=scheme)
        page.goto(path.resolve().as_uri())
        page.wait_for_timeout(150)
        return page

    yield opened
    page.mouse.move(0, 0)
    told = complaints.copy()
    complaints.clear()
    assert told == []


@pytest.fixture(scope="session")
def sample_days(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The reports of three days of a quarter of the sample site with more work than fits, and their cost report."""

    def make(_: Path) -> None:
        machine = ("--set", "cluster.classes.cpu.count=70", "--set", "cluster.classes.gpu.count=8")
        more = ("--set", "jobs.load=1.3", "--scenario", "sample", "--method", "multisearch", "-q", *machine)
        plan("run", "--from", DAY, "--to", "2024-06-03", "--run-bound-time", "1", "--bound-time", "0.3", *more)
        plan("report", "--month", "2024-06", "--by", "account", "-q")

    return made_once(tmp_path_factory, "pages", make) / "reports"


@pytest.fixture(scope="session")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of two scenarios compared over three days, with two policies beside the plans."""
    words = ("--from", DAY, "--to", "2024-06-03", "-m", "multisearch", "--set", "jobs.load=0.4", "-q")
    words = ("compare", "air-summer", "hybrid-summer", "-p", "hold", *words)
    base = made_once(tmp_path_factory, "compare", lambda _: plan(*words))
    return next((base / "reports" / "compare").glob("*/*"))


@pytest.fixture(scope="session")
def study_pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Pages of studies, and one of replays."""
    return page_paths(made_once(tmp_path_factory, "studies", write_pages))


RICH_SITE = """\
description: Six nodes with GPUs, a roof and a battery
zone: Europe/Paris
jobs: {source: ../jobs/queue.csv}
cluster:
  classes:
    cpu: {count: 4, capacity: {cores: 8, memory_gb: 32}, idle_w: 20}
    gpu: {count: 2, capacity: {cores: 8, memory_gb: 64, gpus: 4}, idle_w: 30}
weather: {source: sample}
tariff: {kind: flat, eur_per_kwh: 0.2}
fees: {eur_per_kwh: 0.05}
solar: {peak_kw: 12}
feed_in: {eur_per_kwh: 0.04}
battery: {capacity_kwh: 2, power_kw: 1}
carbon: {eur_per_tonne: 80, g_per_kwh: 350}
cooling: {table: ../tables/small.csv, lookup: linear}
revenue: {eur_per_core_hour: 0.05}
search: {lookahead_days: 1}
"""


def rich_jobs() -> str:
    """Jobs of many sizes and lengths, so that what is free on a node lies in pieces; some on GPUs."""
    rows = ["job_id,submit_time,requested_h,units,cores_per_unit,memory_gb_per_unit,gpus_per_unit,power_w,account"]
    for k in range(90):
        cores, hours, on_gpus = 1 + k * 7 % 5, 1 + k * 11 % 9, k % 6 == 0
        gpus = 1 + k % 3 if on_gpus else 0
        rows.append(f"r{k:02},2024-05-31T08:00:00+02:00,{hours},1,{cores},{2 + k % 7},{gpus},{40 + k},{'abc'[k % 3]}")
    return "\n".join(rows) + "\n"


@pytest.fixture(scope="session")
def rich_day(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a day with shared nodes, GPUs, photovoltaics, a battery, fees and carbon."""

    def make(base: Path) -> None:
        write_small_site(base, RICH_SITE, rich_jobs())
        plan("--day", DAY, "--method", "multisearch", "-q")

    return made_once(tmp_path_factory, "rich", make) / "reports" / "site" / DAY


@pytest.fixture(scope="session")
def hostile_day(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a day whose jobs, accounts and users are named to break a page."""
    jobs = (
        "job_id,submit_time,requested_h,units,cores_per_unit,power_w,account,user,name\n"
        f"j1,2024-05-31T08:00:00+02:00,6,2,8,300,<b>bold</b>,<img src=x onerror=alert(2)>,{HOSTILE}\n"
        f'"{OWNED}",2024-05-31T08:00:00+02:00,4,1,4,100,"a&amp;b",\'u\',{OWNED}\n'
        f"j3,2024-05-31T08:00:00+02:00,1,9,8,100,chem,ann,{HOSTILE}\n"
    )

    def make(base: Path) -> None:
        write_small_site(base, jobs=jobs)
        plan("--day", DAY, "--method", "multisearch", "-q")
        plan("report", "--day", DAY, "--by", "job", "-q")

    return made_once(tmp_path_factory, "hostile", make) / "reports" / "site" / DAY


@pytest.fixture(scope="session")
def curie_day(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a day of CEA Curie on 300 nodes; skipped where the trace is not there."""
    data = Path(os.environ.get("PLANNER_DATA", Path(__file__).parents[3] / "shared" / "data"))
    trace = data / "swf" / "CEA-Curie-2011-2.1-cln.swf.gz"
    if not trace.is_file():
        pytest.skip("the trace of Curie is not here; set PLANNER_DATA to the folder that holds swf/")
    settings = (
        f"jobs.source={trace}",
        "jobs.visibility=day",
        "jobs.lookback=0d",
        "jobs.core_scale=9600/93312",
        "zone=UTC",
        "cluster.classes.gpu=null",
        "cluster.classes.cpu.count=300",
    )
    words = [word for setting in settings for word in ("--set", setting)]
    words = ["--day", "2012-08-07", "--scenario", "sample", "--method", "multisearch", "-q", *words]
    return made_once(tmp_path_factory, "curie", lambda _: plan(*words)) / "reports" / "sample" / "2012-08-07"
