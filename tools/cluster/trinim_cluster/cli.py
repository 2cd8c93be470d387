"""The command `trinim-cluster`."""

from __future__ import annotations

import argparse
import atexit
import json
import logging
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TextIO, cast

from trinim_cluster import estimate, service, shares, trinim
from trinim_cluster.ledger import Ledger
from trinim_cluster.local import Cluster, LocalCluster, OwnProcess
from trinim_cluster.options import parser
from trinim_cluster.plan import PlanError, parse
from trinim_cluster.progress import (
    METRICS_BEGIN,
    Interrupted,
    NoProgress,
    Progress,
    counted,
    is_own,
    write_metrics,
)
from trinim_cluster.service import Service, Tls
from trinim_cluster.sweeper import Sweeper
from trinim_cluster.trinim import Store, TrinimError
from trinim_cluster.unread import Unread

if TYPE_CHECKING:
    from trinim_cluster.driver import Driver, Work

COMPLETE = 0
FAILED = 1
USAGE = trinim.USAGE
UNCHECKED = 4
REFUSED = trinim.REFUSED
NO_PROGRESS = trinim.TRY_AGAIN
# Exit codes of `trinim-task` that are those of this command; the last are those of signals.
KEPT = (USAGE, REFUSED, NO_PROGRESS, 129, 130, 143)


class Stop(Exception):
    """The command ends with this exit code and says why."""

    def __init__(self, code: int, reason: str, hint: str | None = None) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason
        self.hint = hint


def tls_of(arguments: argparse.Namespace) -> Tls | None:
    files = (arguments.tls_ca, arguments.tls_cert, arguments.tls_key)
    if not any(files):
        return None
    if not all(files):
        raise Stop(USAGE, "--tls-ca, --tls-cert and --tls-key must be given together")
    for file in files:
        if not os.path.isfile(file):
            raise Stop(USAGE, f"no such file: {file}")
    return Tls(*(os.path.abspath(file) for file in files))


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """Parses the command line, runs the command, ends the process with its exit code."""
    arguments, others = parser().parse_known_args(argv)
    if others and arguments.command not in ("solve", "plan"):
        parser().error(f"unrecognized arguments: {' '.join(others)}")
    errors = Unread(sys.stderr)
    sys.stderr = cast(TextIO, errors)
    atexit.register(errors.drain)
    try:
        match arguments.command:
            case "solve":
                code = solve(arguments, others)
            case "verify":
                code = verify(arguments)
            case "scheduler":
                code = run_scheduler(arguments)
            case "worker":
                code = run_worker(arguments)
            case _:
                code = plan(arguments, others)
        sys.stdout.flush()
    except (Stop, OSError) as error:
        stop = error if isinstance(error, Stop) else Stop(FAILED, str(error))
        print(f"error: {stop.reason}", file=sys.stderr)
        if stop.hint is not None:
            print(f"hint: {stop.hint}", file=sys.stderr)
        if getattr(arguments, "json", False) and stop.code != USAGE:
            failure = {
                "schema": "trinim.failure/1",
                "finished": False,
                "command": f"cluster {arguments.command}",
                "exit_code": stop.code,
                "reason": stop.reason,
                "hint": stop.hint,
            }
            # What cannot be written may be why.
            with suppress(OSError):
                print(json.dumps(failure), flush=True)
        code = stop.code
    errors.drain()
    # Threads of Dask that wait for the process of a task would hold up an orderly end.
    os._exit(code)


CONTINUE = "run the same command to continue"


def catch(signals: list[int]) -> None:
    """From now on collects what asks for a stop; what was ignored, as by nohup, stays ignored."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda number, _frame: signals.append(number))


def solve(arguments: argparse.Namespace, init: list[str]) -> int:
    """Init, plan, drive, finish."""
    begin = time.monotonic()
    store = store_of(arguments)
    ledger, version = open_store(store, arguments, init)
    report: dict[str, Any] | None = None
    trouble = ""
    sweeper = Sweeper(store) if arguments.keep == "counts" else None

    def rounds(driver: Driver) -> None:
        nonlocal report, trouble
        for _ in range(FINISHES):
            driver.run()
            if sweeper is not None:
                sweeper.end()
            if not ledger.complete:
                raise failures(ledger, FAILED)
            try:
                store.sweep()
                report = store.finish()
                return
            except TrinimError as error:
                if error.code != NO_PROGRESS:
                    raise
                trouble = str(error)
            # The store misses blocks, or could not be read: what it misses is open again.
            time.sleep(2.0)
            ledger.recheck(store.listing())

    hear = sweeper or (lambda event: None)
    driver = drive(arguments, store, store, ledger, version, hear, rounds)
    if report is None:
        raise Stop(NO_PROGRESS, trouble, CONTINUE)
    report["cluster"] = figures(driver, begin)
    if arguments.json:
        print(json.dumps(report))
    else:
        for key in ("layers", "rule", "positions", "losses", "start", "digest"):
            if key in report:
                print(f"{key:10} {report[key]}")
        elapsed_s = report["cluster"]["elapsed_s"]
        print(f"time       {elapsed_s:.1f} s, {counted(ledger.starts, 'task')} started")
    return COMPLETE


def plan(arguments: argparse.Namespace, init: list[str]) -> int:
    """What a solve on other machines would take."""
    try:
        return estimate.run(arguments, init)
    except OSError as error:
        raise Stop(USAGE, str(error)) from error
    except TrinimError as error:
        raise Stop(trinim_code(error), str(error)) from error
    except PlanError as error:
        raise Stop(REFUSED, str(error)) from error


def verify(arguments: argparse.Namespace) -> int:
    """Shares as tasks without sources; what they found, added up."""
    begin = time.monotonic()
    store = store_of(arguments)
    try:
        version = trinim.version(store.program)
        store.check_options(task_options(arguments))
        blocks = parse(store.plan(None)).blocks
    except TrinimError as error:
        raise Stop(trinim_code(error), str(error)) from error
    except PlanError as error:
        raise Stop(REFUSED, str(error)) from error
    of = min(arguments.shares or SHARES, blocks)
    ledger = Ledger(shares.plan(of), arguments.retries)
    reports: dict[int, dict[str, Any]] = {}

    def collect(event: dict[str, object]) -> None:
        report = event.get("report")
        if event.get("verdict") == "done" and isinstance(report, dict):
            reports[int(str(event["task"]))] = report

    def rounds(driver: Driver) -> None:
        driver.run()
        if not ledger.complete:
            raise failures(ledger, UNCHECKED)

    work = shares.Shares(store, of)
    driver = drive(arguments, store, work, ledger, version, collect, rounds)
    report = shares.total([reports[number] for number in sorted(reports)], of)
    report["cluster"] = figures(driver, begin)
    if arguments.json:
        print(json.dumps(report))
    else:
        for finding in report["findings"]:
            print("wrong:     ", json.dumps(finding))
        print(f"verdict    {'correct' if report['ok'] else 'wrong'}")
        positions, blocks = report["positions"], report["blocks"]
        print(f"values     {counted(positions, 'position')} in {counted(blocks, 'block')}")
        print(f"time       {report['cluster']['elapsed_s']:.1f} s, {counted(of, 'share')}")
    return shares.exit_code(report)


def store_of(arguments: argparse.Namespace) -> Store:
    """The store and the program, by the names that all workers know."""
    try:
        program = trinim.find(arguments.trinim)
    except FileNotFoundError as error:
        raise Stop(USAGE, str(error)) from error
    location = arguments.store
    kind, colon, place = location.partition(":")
    is_kind = colon and kind.isalnum() and (place.startswith("/") or kind.lower() == "s3")
    if not is_kind:
        # Workers have other working directories.
        location = os.path.abspath(location)
    return Store(program, location)


def drive(
    arguments: argparse.Namespace,
    store: Store,
    work: Work,
    ledger: Ledger,
    version: str,
    hear: Callable[[dict[str, object]], None],
    rounds: Callable[[Driver], None],
) -> Driver:
    """Runs `rounds` with a driver of this work and a cluster, which is started if none runs."""
    if arguments.scheduler and arguments.scheduler_file:
        raise Stop(USAGE, "--scheduler and --scheduler-file cannot be used together")
    joins = bool(arguments.scheduler or arguments.scheduler_file)
    tls = tls_of(arguments)
    if joins and (arguments.workers or arguments.processes):
        raise Stop(USAGE, "--workers and --processes apply only to a cluster on this machine")
    if arguments.logs and not arguments.processes:
        raise Stop(USAGE, "--logs requires --processes")
    if tls is not None and not joins:
        raise Stop(
            USAGE,
            "TLS requires a running scheduler; a local one listens only on the loopback",
        )
    if arguments.metrics is not None and not is_own(Path(arguments.metrics), METRICS_BEGIN):
        raise Stop(
            USAGE,
            f"--metrics {arguments.metrics} exists and is not a file of metrics",
            "choose a new file, or one of an earlier run",
        )
    events = Events(arguments.log)
    workers, slots = (1, arguments.slots or 1) if joins else shape(arguments)

    def tell(event: dict[str, object]) -> None:
        hear(event)
        events(event)

    tell(
        {
            "event": "run",
            "store": store.location,
            "tasks": len(ledger.plan.tasks),
            "slots": slots,
            "threads": arguments.threads,
        }
    )
    signals: list[int] = []
    catch(signals)
    try:
        with Folder(arguments.logs, "trinim-cluster.") as folder:
            cluster: Cluster | None = None
            if arguments.processes:
                cluster = LocalCluster(workers, slots, folder.path, tell)
            elif not joins:
                cluster = OwnProcess(slots, folder.path)
            try:
                if cluster is not None:
                    cluster.start()
                # Dask takes a second to import, here and in the processes that have just started;
                # the other commands do without.
                from trinim_cluster.driver import Driver, Options, Scheduler

                logging.getLogger("distributed").setLevel(logging.CRITICAL)
                if cluster is None:
                    scheduler = Scheduler(arguments.scheduler, arguments.scheduler_file, tls)
                else:
                    cluster.wait()
                    scheduler = Scheduler(cluster.address, cluster.scheduler_file)
                options = Options(
                    task_options=task_options(arguments),
                    patience_s=arguments.patience,
                    progress_s=arguments.progress,
                )
                driver = Driver(
                    work,
                    ledger.plan,
                    ledger,
                    scheduler,
                    version,
                    options,
                    tell,
                    shower(arguments),
                    cluster.tend if cluster is not None else lambda: None,
                    signals,
                )
                rounds(driver)
                folder.success = True
            except NoProgress as error:
                raise Stop(NO_PROGRESS, str(error), CONTINUE) from error
            except Interrupted as error:
                raise Stop(128 + error.number, str(error), CONTINUE) from error
            finally:
                if cluster is not None:
                    cluster.stop(at_work=not folder.success)
    except TrinimError as error:
        raise Stop(trinim_code(error), str(error), CONTINUE) from error
    except TimeoutError as error:
        raise Stop(NO_PROGRESS, str(error), CONTINUE) from error
    finally:
        events.close()
    return driver


def shape(arguments: argparse.Namespace) -> tuple[int, int]:
    """Workers and slots of each on this machine.

    In this process it is one worker with the slots of all, and one slot more: while a task waits
    for the disk to have its files, another computes.
    """
    usual = 1 if arguments.workers else len(os.sched_getaffinity(0)) // arguments.threads
    workers, slots = arguments.workers or 1, arguments.slots or max(1, usual)
    return (workers, slots) if arguments.processes else (1, workers * slots + 1)


def figures(driver: Driver, begin: float) -> dict[str, Any]:
    """What the cluster did, for the report."""
    ledger = driver.ledger
    return {
        "tasks": len(ledger.plan.tasks),
        "starts": ledger.starts,
        "executions": driver.executions,
        "lost": ledger.lost,
        "schedulers_lost": driver.schedulers_lost,
        "resumed_blocks": driver.resumed_blocks,
        "elapsed_s": time.monotonic() - begin,
    }


# Enough for the slots of a cluster, and few enough that the blocks that shares have in common are
# not read too often.
SHARES = 64

# Each is preceded by a pause and by a new look at the store.
FINISHES = 5


def open_store(store: Store, arguments: argparse.Namespace, init: list[str]) -> tuple[Ledger, str]:
    """Creates or checks the store; the plan and the version of the program."""
    try:
        version = trinim.version(store.program)
        store.init([*init, "--keep", arguments.keep])
        store.check_options(task_options(arguments))
        plan = parse(store.plan(arguments.batches))
    except TrinimError as error:
        raise Stop(trinim_code(error), str(error)) from error
    except PlanError as error:
        raise Stop(REFUSED, str(error)) from error
    return Ledger(plan, arguments.retries), version


def trinim_code(error: TrinimError) -> int:
    """Usage, refusal, "try again" and signals keep their exit codes; all else is a failure."""
    return error.code if error.code in KEPT else FAILED


def task_options(arguments: argparse.Namespace) -> list[str]:
    options = ["--threads", str(arguments.threads)]
    for name in ("memory", "wait"):
        value = getattr(arguments, name, None)
        if value is not None:
            options += [f"--{name}", value]
    return options


def failures(ledger: Ledger, code: int) -> Stop:
    failed = sorted(ledger.failed.values(), key=lambda failure: failure.task)
    words = [f"task {failure.task}: {failure.reason}" for failure in failed[:10]]
    if len(failed) > 10:
        words.append(f"and {len(failed) - 10:,} more")
    behind = len(ledger.blocked)
    need = "task needs" if behind == 1 else "tasks need"
    them = "it" if len(failed) == 1 else "them"
    text = f"{counted(len(failed), 'task')} failed permanently, {behind:,} {need} {them}; "
    text += "; ".join(words)
    return Stop(code, text, "fix the cause, then " + CONTINUE)


def shower(arguments: argparse.Namespace) -> Callable[[Progress], None]:
    def show(progress: Progress) -> None:
        if not arguments.quiet:
            print(progress.line(), file=sys.stderr, flush=True)
        if arguments.metrics is not None:
            with suppress(OSError):
                write_metrics(Path(arguments.metrics), progress.metrics())

    return show


class Events:
    """The log of events: one JSON object a line, with the time."""

    BEGIN = '{"time": '

    def __init__(self, path: str | None) -> None:
        self.file: TextIO | None = None
        self.path = path
        if path is not None:
            try:
                log = Path(path)
                if log.is_file() and log.stat().st_size and not is_own(log, self.BEGIN):
                    raise Stop(
                        USAGE,
                        f"--log {path} exists and is not a log of events",
                        "choose a new file, or the log of an earlier run",
                    )
                self.file = open(path, "a", encoding="utf-8")
            except OSError as error:
                raise Stop(USAGE, f"cannot write {path}: {error}") from error

    def __call__(self, event: dict[str, object]) -> None:
        if self.file is None:
            return
        try:
            print(json.dumps({"time": time.time()} | event), file=self.file, flush=True)
        except OSError as error:
            # The work is worth more than its log.
            why = error.strerror
            print(f"warning: cannot write {self.path}: {why}; the log ends here", file=sys.stderr)
            self.close()

    def close(self) -> None:
        file, self.file = self.file, None
        if file is not None:
            # What could not be written before is tried again.
            with suppress(OSError):
                file.close()


class Folder:
    """A folder for logs: one that stays, or a temporary one that stays only after a failure."""

    def __init__(self, path: str | None, prefix: str) -> None:
        self.keep = path is not None
        self.success = False
        if path is not None:
            Path(path).mkdir(parents=True, exist_ok=True)
            self.path = Path(path).resolve()
        else:
            self.path = Path(tempfile.mkdtemp(prefix=prefix))

    def __enter__(self) -> Folder:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self.keep:
            return
        if self.success or kind is None or issubclass(kind, Stop):
            shutil.rmtree(self.path, ignore_errors=True)
        else:
            print(f"logs of the local processes: {self.path}", file=sys.stderr)


STDERR = 2


def run_scheduler(arguments: argparse.Namespace) -> int:
    """A scheduler on a fixed port, until a signal comes."""
    file = os.path.abspath(arguments.scheduler_file)
    tls = tls_of(arguments)
    # A file of an earlier scheduler would send workers and drivers to one that is gone.
    with suppress(FileNotFoundError):
        os.unlink(file)
    options = service.scheduler_arguments(arguments.host, arguments.port, file, tls)
    return keep_running(Service("scheduler", options, STDERR, say), None)


def run_worker(arguments: argparse.Namespace) -> int:
    """A worker, until a signal comes or no scheduler was there for too long."""
    if bool(arguments.scheduler) == bool(arguments.scheduler_file):
        raise Stop(USAGE, "give --scheduler-file or --scheduler")
    file = arguments.scheduler_file
    options = service.worker_arguments(
        arguments.slots,
        os.path.abspath(file) if file is not None else None,
        arguments.scheduler,
        tls_of(arguments),
        host=arguments.host,
        local_directory=arguments.local_directory or tempfile.gettempdir(),
    )
    return keep_running(Service("worker", options, STDERR, say), arguments.patience)


def say(event: dict[str, object]) -> None:
    print(json.dumps(event), file=sys.stderr, flush=True)


def keep_running(kept: Service, patience: float | None) -> int:
    """Tends one service until a signal comes, or until it has lived only briefly for too long."""
    stopped: list[int] = []
    catch(stopped)
    well = time.monotonic()
    enough = 2.0 * service.DEATH_TIMEOUT
    try:
        while not stopped:
            kept.tend()
            time.sleep(0.2)
            now = time.monotonic()
            if kept.lives_longer_than(enough):
                well = now
            if patience is not None and now - well > patience:
                brief = (
                    f"in {patience:.0f} s, the {kept.name} never ran for longer than {enough:.0f} s"
                )
                raise Stop(NO_PROGRESS, f"{brief}; see above")
    finally:
        kept.stop()
    return 128 + stopped[0]
