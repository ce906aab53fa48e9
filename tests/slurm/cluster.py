"""A real Slurm on this machine for tests: pretended nodes, everything on loopback and in one folder, ended by pid."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

NODES = 8
CPUS = 32
MEMORY_MB = 128_000
GPUS = 4
PATIENCE_S = 60.0
"""How long to wait for anything on a busy machine."""
SEARCH = "/usr/sbin:/usr/bin:/sbin:/bin"
NEEDED = ("setpriv", "munged", "slurmctld", "slurmd", "scontrol", "squeue", "sbatch", "scancel", "sinfo")
ACCOUNTING = ("slurmdbd", "sacctmgr", "mariadbd", "mariadb", "mariadb-install-db")
PORTS = range(10_000, 30_000)
"""Below the ports that the system hands out by itself, so that nobody takes one between the look and the start."""

CONFIGURATION = """\
ClusterName=ci
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/log/slurmctld.log
SlurmdLogFile={folder}/log/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
MailProg=/bin/true
ReturnToService=2
SlurmdParameters=config_overrides
SlurmdTimeout=300
KillWait=2
MinJobAge=86400
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,bf_continue,sched_interval=1,batch_sched_delay=0,sched_min_interval=100000
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=1000
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
GresTypes=gpu
Licenses=cad:2
{accounting}
{nodes}
PartitionName=batch Nodes=n[1-{last_of_batch}] Default=YES MaxTime=2-00:00:00 DefaultTime=01:00:00
PartitionName=open Nodes=n{nodes_in_all} MaxTime=2-00:00:00 DefaultTime=01:00:00
{more}
"""

DATABASE = """\
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort={port}
CommunicationParameters=NoInAddrAny
SlurmUser=root
PidFile={folder}/slurmdbd.pid
LogFile={folder}/log/slurmdbd.log
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=slurm
StoragePass=slurm
StorageLoc=slurm_acct
"""


class NotUpError(Exception):
    """Slurm, or a part of it, did not come up or answer in time."""


def why_not(names: tuple[str, ...] = NEEDED) -> str:
    """Why no cluster can be started here; empty when one can."""
    missing = [name for name in names if shutil.which(name, path=SEARCH) is None]
    if missing:
        return f"not installed: {', '.join(missing)}; .ci/packages installs them"
    return "" if os.geteuid() == 0 else "needs root, as munge and slurmd do"


def until(answer: Callable[[], Any], what: str, *, patience_s: float = PATIENCE_S) -> Any:
    """The first answer that is true; asks again and again, and says what it waited for when that takes too long."""
    end = time.monotonic() + patience_s
    while True:
        found = answer()
        if found:
            return found
        if time.monotonic() > end:
            raise NotUpError(f"waited {patience_s:g} s for {what}")
        time.sleep(0.05)


@dataclass(frozen=True)
class Seen:
    """What Slurm says of a job: its state, and since when it runs or ran [unix s]; None while it waits."""

    state: str
    start_unix: int | None


@dataclass
class Cluster:
    """One cluster in one folder: its daemons, and short forms of the commands that tests give.

    ``more`` are further lines of its slurm.conf.
    """

    folder: Path
    accounting: bool
    more: str = ""
    daemons: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def conf(self) -> Path:
        """The configuration that every command needs."""
        return self.folder / "slurm.conf"

    def environment(self, **more: str) -> dict[str, str]:
        """What commands and daemons get to see."""
        return {"PATH": SEARCH, "SLURM_CONF": str(self.conf), "LC_ALL": "C", "TZ": "UTC", **more}

    def command(self, *words: str, check: bool = True) -> str:
        """The output of one command, with its errors."""
        done = subprocess.run(
            words,
            env=self.environment(),
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=PATIENCE_S,
            check=False,
        )
        output = done.stdout.decode("utf-8", "replace")
        if check and done.returncode:
            raise NotUpError(f"{' '.join(words)}: {output}")
        return output

    def submit(self, *words: str, sleep_s: int = 600) -> str:
        """The id of a new job that sleeps."""
        quiet = ("--output=/dev/null", "--error=/dev/null")
        return self.command("sbatch", "--parsable", *quiet, *words, f"--wrap=exec sleep {sleep_s}").strip()

    def jobs(self) -> list[dict[str, Any]]:
        """Every record that squeue has, as it is."""
        found: list[dict[str, Any]] = json.loads(self.command("squeue", "--json"))["jobs"]
        return found

    def state(self, job_id: str) -> str:
        """The state of one job, such as PENDING; empty when Slurm does not know it."""
        output = self.command("squeue", "--noheader", "--states=all", f"--jobs={job_id}", "--format=%T", check=False)
        return output.split("\n")[0].strip() if "rror" not in output else ""

    def wait_for(self, job_id: str, *states: str) -> str:
        """Wait until a job is in one of these states."""
        found = until(lambda: {self.state(job_id)} & set(states), f"job {job_id} to be {' or '.join(states)}")
        return str(found.pop())

    def fill(self) -> str:
        """The id of the job that fills `batch` for a day; it is submitted where it does not run yet."""
        found = self.command("squeue", "--noheader", "--states=running", "--name=filler", "--format=%A").split()
        if found:
            return found[0]
        filler = self.submit("--job-name=filler", "--nodes=7", "--exclusive", "--time=1-00:00:00", sleep_s=86_400)
        self.wait_for(filler, "RUNNING")
        return filler

    def history(self) -> dict[str, Seen]:
        """Every job that Slurm remembers, tasks of arrays one by one, those that have ended as well."""
        words = ("squeue", "--all", "--array", "--noheader", "--states=all", "--format=%i|%T|%S")
        rows = [line.split("|") for line in self.command(*words).splitlines()]
        return {job: Seen(state, _unix(start) if state != "PENDING" else None) for job, state, start in rows}

    def sql(self, text: str) -> None:
        """Change the database of the accounts."""
        sock = self.folder / "database.sock"
        self.command("mariadb", "--no-defaults", f"--socket={sock}", "--execute", f"use slurm_acct; {text}")

    def reported_s(self, day: str, *words: str) -> list[list[str]]:
        """What sreport says of a day in CPU-seconds, row by row."""
        window = (f"start={day}", f"end={date.fromisoformat(day) + timedelta(days=1)}")
        output = self.command("sreport", "--noheader", "-P", "-t", "Seconds", *words, *window)
        return [line.split("|") for line in output.splitlines() if "|" in line]

    def allocated_s(self, day: str) -> int:
        """The CPU-seconds of all jobs of a day that is over, as sreport counts them."""
        window = (f"{day}T00:00:00", f"{date.fromisoformat(day) + timedelta(days=1)}T00:00:00")
        self.command("sacctmgr", "--immediate", "rollup", *window)
        ((_, allocated, *_),) = until(lambda: self.reported_s(day, "cluster", "utilization"), "the rollup")
        return int(allocated)

    def cancel_all(self, *, but: str = "") -> None:
        """Cancel every job but one, and wait until they are gone."""

        def living() -> list[str]:
            ids = self.command("squeue", "--noheader", "--format=%A").split()
            return sorted({each for each in ids if each != but})

        def gone() -> bool:
            left = living()
            if left:
                self.command("scancel", "--full", *left, check=False)
            return not left

        until(gone, "cancelled jobs to end")

    def start_controller(self) -> None:
        """Start slurmctld and wait until it answers."""
        self._start("slurmctld", "slurmctld", "-i", "-D")
        self._until_up("slurmctld", lambda: "UP" in self.command("scontrol", "ping", check=False))

    def restart_controller(self) -> None:
        """End slurmctld in good order and start it again from what it saved."""
        self._stop(["slurmctld"])
        self.start_controller()

    def start(self, ports: list[int]) -> None:
        """Start everything and wait until all nodes are idle."""
        for name in ("log", "state", "spool"):
            (self.folder / name).mkdir(parents=True)
        self._write_configuration(ports)
        self._start_munge()
        if self.accounting:
            self._start_accounting()
        self.start_controller()
        for number in range(1, NODES + 1):
            self._start(f"slurmd-n{number}", "slurmd", "-D", "-N", f"n{number}")

        def idle() -> bool:
            names = self.command("sinfo", "--noheader", "--Node", "--states=idle", "--format=%N", check=False)
            return len(set(names.split())) == NODES

        self._until_up("slurmd-n1", idle)

    def stop(self) -> None:
        """End every daemon by its pid, those that others need last."""
        nodes = [name for name in self.daemons if name.startswith("slurmd-")]
        for tier in (nodes, ["slurmctld"], ["slurmdbd"], ["mariadbd"], ["munged"]):
            self._stop([name for name in tier if name in self.daemons])

    def _write_configuration(self, ports: list[int]) -> None:
        host = socket.gethostname().split(".")[0]
        folder = self.folder
        accounting = "AccountingStorageType=accounting_storage/none"
        if self.accounting:
            accounting = (
                "AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageHost=127.0.0.1\n"
                f"AccountingStoragePort={ports[-2]}\nAccountingStoragePass={folder}/munge.sock\n"
                "AccountingStoreFlags=job_comment"
            )
            database = folder / "slurmdbd.conf"
            database.touch(mode=0o600)
            database.write_text(DATABASE.format(folder=folder, port=ports[-2]), encoding="utf-8")
        nodes = "\n".join(
            f"NodeName=n{number} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={CPUS} Sockets=2"
            f" CoresPerSocket={CPUS // 2} ThreadsPerCore=1 RealMemory={MEMORY_MB} Gres=gpu:{GPUS}"
            for number, port in zip(range(1, NODES + 1), ports, strict=False)
        )
        text = CONFIGURATION.format(
            host=host,
            folder=folder,
            controller=ports[-1],
            accounting=accounting,
            nodes=nodes,
            last_of_batch=NODES - 1,
            nodes_in_all=NODES,
            more=self.more,
        )
        self.conf.write_text(text, encoding="utf-8")
        for number in range(GPUS):
            (folder / f"gpu{number}").touch()  # GPUs without a file are not believed
        gpus = f"NodeName=n[1-{NODES}] Name=gpu File={folder}/gpu[0-{GPUS - 1}]\n"
        (folder / "gres.conf").write_text(gpus, encoding="utf-8")
        # No cgroups: from 23.02 on by a plugin that does nothing, before that by leaving them alone.
        version = int(self.command("slurmctld", "-V").split()[1].split(".")[0])
        cgroup = "CgroupPlugin=disabled\n" if version >= 23 else "CgroupAutomount=no\n"
        (folder / "cgroup.conf").write_text(cgroup, encoding="utf-8")

    def _start_munge(self) -> None:
        folder = self.folder
        key = folder / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(128))
        places = (f"--{each}-file={folder}/munge.{each}" for each in ("key", "pid", "log", "seed"))
        self._start("munged", "munged", "--foreground", "--force", f"--socket={folder}/munge.sock", *places)
        self._until_up("munged", (folder / "munge.sock").exists)

    def _start_accounting(self) -> None:
        folder = self.folder
        data, sock = folder / "database", folder / "database.sock"
        self.command(
            "mariadb-install-db",
            "--no-defaults",
            "--user=root",
            f"--datadir={data}",
            "--auth-root-authentication-method=socket",
            "--skip-test-db",
        )
        self._start(
            "mariadbd",
            "mariadbd",
            "--no-defaults",
            "--user=root",
            f"--datadir={data}",
            f"--socket={sock}",
            f"--pid-file={folder}/mariadbd.pid",
            "--skip-networking",
            "--innodb-buffer-pool-size=32M",
            "--innodb-flush-log-at-trx-commit=0",
        )
        sql = (
            "create database slurm_acct; create user 'slurm'@'localhost' identified by 'slurm';"
            " grant all on slurm_acct.* to 'slurm'@'localhost';"
        )
        ask = ("mariadb", "--no-defaults", f"--socket={sock}", "--execute")
        self._until_up("mariadbd", lambda: "ERROR" not in self.command(*ask, "select 1", check=False))
        self.command(*ask, sql)
        self._start("slurmdbd", "slurmdbd", "-D", MYSQL_UNIX_PORT=str(sock))
        tell = ("sacctmgr", "--immediate")
        self._until_up(
            "slurmdbd", lambda: "rror" not in self.command("sacctmgr", "--noheader", "show", "cluster", check=False)
        )
        self.command(*tell, "add", "cluster", "ci")
        self.command(*tell, "add", "qos", "flexible")
        self.command(*tell, "add", "account", "physics", "cluster=ci")
        self.command(*tell, "add", "user", "root", "account=physics", "qos=normal,flexible", "adminlevel=admin")

    def _start(self, name: str, *words: str, **more: str) -> None:
        with (self.folder / "log" / f"{name}.out").open("ab") as log:
            # A session of its own: whoever interrupts the tests does not end the daemons before they are stopped. But
            # where the tests are killed, so that nobody stops them, the system does.
            self.daemons[name] = subprocess.Popen(
                ("setpriv", "--pdeathsig=TERM", *words),
                env=self.environment(**more),
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _until_up(self, name: str, answer: Callable[[], bool]) -> None:
        def up() -> bool:
            if self.daemons[name].poll() is not None:
                tail = (self.folder / "log" / f"{name}.out").read_text("utf-8", "replace")[-500:]
                raise NotUpError(f"{name} ended by itself; see {self.folder / 'log'}: {tail}")
            return answer()

        until(up, name)

    def _stop(self, names: list[str]) -> None:
        for name in names:
            self.daemons[name].send_signal(signal.SIGTERM)
        for name in names:
            daemon = self.daemons.pop(name)
            try:
                daemon.wait(timeout=20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()


def _unix(text: str) -> int | None:
    """A moment of Slurm's commands, which speak in UTC here; None where they have none."""
    return None if text in ("N/A", "Unknown") else int(datetime.fromisoformat(f"{text}+00:00").timestamp())


def free_ports(count: int) -> list[int]:
    """Ports of loopback that nobody listens on."""
    found: list[int] = []
    for port in random.sample(PORTS, len(PORTS)):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        found.append(port)
        if len(found) == count:
            return found
    raise NotUpError(f"no {count} free ports")


@contextmanager
def running_cluster(folder: Path, *, accounting: bool, more: str = "", tries: int = 3) -> Iterator[Cluster]:
    """A cluster that is up, with other ports where somebody was quicker; its logs stay in the folder.

    Its daemons end with it, also where it is interrupted while it comes up, and where its jobs cannot be cancelled.
    """
    with interrupted_by_sigterm():
        for attempt in range(1, tries + 1):
            cluster = Cluster(folder / str(attempt), accounting, more)
            try:
                cluster.start(free_ports(NODES + 2))
            except NotUpError:
                cluster.stop()
                if attempt == tries:
                    raise
            except BaseException:
                cluster.stop()
                raise
            else:
                break
        try:
            yield cluster
        finally:
            try:
                cluster.cancel_all()
            finally:
                cluster.stop()


@contextmanager
def interrupted_by_sigterm() -> Iterator[None]:
    """SIGTERM ends the tests as Ctrl-C does: jobs are cancelled and daemons stopped, in good order."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
