"""The options of the command `trinim-cluster`."""

from __future__ import annotations

import argparse
import math
import re

from trinim_cluster import VERSION


def duration(text: str) -> float:
    """Seconds of 90, 90s, 5m, 2h."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(s|m|h)?", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a duration like 90s, 5m or 2h")
    return float(match[1]) * {"s": 1.0, "m": 60.0, "h": 3600.0}[match[2] or "s"]


def at_least_one(text: str) -> int:
    number = int(text) if text.isascii() and text.isdigit() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1")
    return number


def number(text: str, *, least: float = 0.0, most: float = math.inf) -> float:
    """A number in these bounds; `nan` is in none."""
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not least <= found <= most:
        expected = f"from {least:g}" + (f" to {most:g}" if most < math.inf else "")
        raise argparse.ArgumentTypeError(f"{text!r} is not a number {expected}")
    return found


def rate(text: str) -> float:
    """Bytes a second."""
    return number(text, least=1.0)


def price(text: str) -> float:
    return number(text, most=1e9)


def port(text: str) -> int:
    return min(at_least_one(text), int(number(text, most=65535.0)))


def count(text: str) -> int:
    return at_least_one(text) if text.strip("0") else int(number(text))


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="trinim-cluster",
        description="Run one solve of trinim on many machines.",
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"trinim-cluster {VERSION}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    solve = commands.add_parser(
        "solve",
        help="solve a board into a store, or continue a solve",
        description="Solve a board into a store, or continue a solve. Options that are not listed here, "
        "like --layers, --rule and --bid-cells, go to `trinim-task init`.",
        allow_abbrev=False,
    )
    what_is_solved(solve)
    solve.add_argument("--memory", metavar="SIZE", help="memory budget of a task")
    solve.add_argument("--wait", metavar="DURATION", help="how long a task waits for a source")
    run_options(solve)

    check = commands.add_parser(
        "verify",
        help="check a finished store, in shares",
        description="Check a finished store: every byte, and every position against its children, "
        "as `trinim verify` does, in shares on all slots.",
        allow_abbrev=False,
    )
    check.add_argument(
        "--shares", type=at_least_one, metavar="N", help="number of shares [64, or one a block]"
    )
    run_options(check)

    scheduler = commands.add_parser(
        "scheduler", help="run a scheduler, and restart it when it dies", allow_abbrev=False
    )
    scheduler.add_argument(
        "--scheduler-file", required=True, metavar="FILE", help="file for the address of the scheduler"
    )
    scheduler.add_argument("--host", help="address to listen on")
    scheduler.add_argument("--port", type=port, default=8786, help="port to listen on [8786]")
    tls_options(scheduler)

    worker = commands.add_parser(
        "worker", help="run a worker, and restart it when it dies", allow_abbrev=False
    )
    scheduler_options(worker)
    worker.add_argument("--slots", type=at_least_one, default=1, help="tasks at a time [1]")
    worker.add_argument("--host", help="address of this machine")
    worker.add_argument(
        "--local-directory", metavar="DIR", help="folder for Dask's own files [the folder for temporary files]"
    )
    worker.add_argument(
        "--patience",
        type=duration,
        default=600.0,
        metavar="DURATION",
        help="time to wait without a scheduler [10m]",
    )
    tls_options(worker)

    plan_options(commands)
    return top


def what_is_solved(command: argparse.ArgumentParser) -> None:
    """What the driver itself has to know of it."""
    command.add_argument("--keep", default="database", help="database (default) or counts")
    command.add_argument(
        "--batches", type=at_least_one, metavar="N", help="group the blocks into about N tasks"
    )


def plan_options(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command `plan`."""
    command = commands.add_parser(
        "plan",
        help="estimate a solve on other machines",
        description="Plan a solve on the given machines and simulate its schedule. Options that "
        "are not listed here, like --layers, --rule and --bid-cells, go to `trinim-task init`.",
        allow_abbrev=False,
    )
    what_is_solved(command)
    command.add_argument("--trinim", default="trinim-task", metavar="PROGRAM", help="program to run [trinim-task]")
    command.add_argument("--machines", type=at_least_one, default=1, metavar="N", help="number of machines [1]")
    command.add_argument("--cores", type=at_least_one, default=1, metavar="N", help="cores of a machine [1]")
    command.add_argument("--threads", type=at_least_one, default=1, metavar="N", help="threads of a task [1]")
    command.add_argument("--slots", type=at_least_one, metavar="N", help="slots of a machine [cores / threads]")
    endless = float("inf")
    command.add_argument(
        "--network", type=rate, default=endless, metavar="BYTES", help="bytes per second of a machine"
    )
    command.add_argument(
        "--bandwidth",
        type=rate,
        default=endless,
        metavar="BYTES",
        help="bytes per second of the store, for reading and for writing",
    )
    command.add_argument(
        "--core-price", type=price, default=0.02, metavar="DOLLARS", help="price of a core hour [0.02]"
    )
    command.add_argument(
        "--log",
        metavar="FILE",
        help="log of a run, whole or partial, by one worker with one slot",
    )
    command.add_argument("--json", action="store_true")


def run_options(command: argparse.ArgumentParser) -> None:
    """The options of every command that runs tasks on a cluster."""
    command.add_argument(
        "--store", required=True, help="a folder that all machines share, or s3://BUCKET/PREFIX"
    )
    command.add_argument("--json", action="store_true", help="print the report as JSON")
    command.add_argument(
        "--trinim",
        default="trinim-task",
        metavar="PROGRAM",
        help="program to run, here and on the workers [trinim-task]",
    )
    command.add_argument("--threads", type=at_least_one, default=1, help="threads of a task [1]")
    command.add_argument(
        "--retries", type=count, default=3, help="restarts of a task that crashes [3]"
    )
    command.add_argument(
        "--patience",
        type=duration,
        default=600.0,
        metavar="DURATION",
        help="time to wait without a worker or a successful task [10m]",
    )
    command.add_argument(
        "--progress",
        type=duration,
        default=10.0,
        metavar="DURATION",
        help="time between progress lines [10s]",
    )
    command.add_argument("--quiet", action="store_true", help="print no progress")
    command.add_argument("--log", metavar="FILE", help="append each event as a JSON line")
    command.add_argument(
        "--metrics", metavar="FILE", help="write metrics for Prometheus to this file"
    )
    cluster = command.add_argument_group(
        "cluster", "without --scheduler and --scheduler-file: on this machine"
    )
    cluster.add_argument("--workers", type=at_least_one, metavar="N", help="workers [1]")
    cluster.add_argument(
        "--slots",
        type=at_least_one,
        metavar="N",
        help="tasks that each of them computes at a time [1 with --workers, else the processors / "
        "threads]",
    )
    cluster.add_argument(
        "--processes",
        action="store_true",
        help="scheduler and workers are processes, each started again if it dies [they are in this "
        "process]",
    )
    cluster.add_argument(
        "--logs", metavar="DIR", help="folder for the logs of --processes [deleted at the end]"
    )
    scheduler_options(cluster)
    tls_options(cluster)


def scheduler_options(group: argparse._ActionsContainer) -> None:
    group.add_argument(
        "--scheduler-file", metavar="FILE", help="the file with the address of a scheduler"
    )
    group.add_argument(
        "--scheduler", metavar="ADDRESS", help="address of a scheduler, like tcp://10.0.0.1:8786"
    )


def tls_options(group: argparse._ActionsContainer) -> None:
    for name, what in (
        ("ca", "certificate of the authority"),
        ("cert", "certificate"),
        ("key", "key of the certificate"),
    ):
        group.add_argument(f"--tls-{name}", metavar="FILE", help=what)
