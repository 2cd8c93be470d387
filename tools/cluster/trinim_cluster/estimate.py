"""What a solve on made-up machines takes: time, disk, requests and money (`trinim-cluster plan`).

The tasks, their costs and the sizes of files are those of `trinim-task plan` and `trinim plan`; the
schedule is simulated. With the log of a whole run of the same plan by one worker, tasks take what
they took there; with that of a part of a run, times are scaled to what it measured. Sizes are not:
blocks with few pieces have small files, and parts begin with them.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from trinim_cluster import trinim
from trinim_cluster.plan import Plan, PlanError, parse
from trinim_cluster.progress import counted, readable_seconds
from trinim_cluster.simulate import Effort, Machines, Outcome, Run, simulate
from trinim_cluster.trinim import Store, TrinimError

# Seconds of the driver's own time for each task.
COORDINATOR_S = 0.005
# S3 Standard, us-east-1, list prices in dollars.
GET, PUT, LIST = 0.4e-6, 5e-6, 5e-6
GIB_MONTH = 0.023
NAMES = 1000  # of a request for a listing
FOLDER = 10_000  # blocks of a folder


@dataclass(frozen=True, slots=True)
class Requests:
    """Requests to a store that keeps only counts, or every value."""

    get: int
    put: int
    list: int
    delete: int

    @staticmethod
    def of(plan: Plan, keeps_counts: bool) -> Requests:
        """A block is looked for, and writes two files; its summary is read in the end, and where
        blocks go, by the sweep that runs beside the tasks."""
        reads = sum(files(task.reads, task.sources) for task in plan.tasks.values())
        names = 2 * plan.blocks if keeps_counts else plan.blocks
        pages = -(-names // NAMES) + 2 * (plan.blocks // FOLDER)
        # By the driver and by `finish`; by a sweep beside the tasks, and one after them.
        listings = 4 if keeps_counts else 2
        return Requests(
            get=(3 if keeps_counts else 2) * plan.blocks + reads,
            put=2 * plan.blocks + 3,
            list=pages * listings,
            delete=plan.blocks if keeps_counts else 0,
        )

    @property
    def dollars(self) -> float:
        return GET * self.get + PUT * self.put + LIST * self.list


def files(reads: int | None, sources: Sequence[int]) -> int:
    """How many files a task reads."""
    return len(sources) if reads is None else reads


def efforts(plan: Plan, file_bytes: float, threads: int) -> dict[int, Effort]:
    """What each task takes by the rates of `trinim plan`."""
    return {
        number: Effort(
            task.cost / threads,
            files(task.reads, task.sources) * file_bytes,
            len(task.blocks) * file_bytes,
        )
        for number, task in plan.tasks.items()
    }


def run(arguments: argparse.Namespace, init: list[str]) -> int:
    program = trinim.find(arguments.trinim)
    with tempfile.TemporaryDirectory(prefix="trinim-cluster-plan.") as folder:
        store = Store(program, folder)
        store.init([*init, "--keep", arguments.keep])
        with open(f"{folder}/task.json", encoding="utf-8") as file:
            definition = json.load(file)
        plan = parse(store.plan(arguments.batches))
    file_bytes = definition["block_bytes"] * stored_share(program, init)
    slots = arguments.slots or max(1, arguments.cores // arguments.threads)
    machines = Machines(
        nodes=arguments.machines,
        slots=slots,
        cores=arguments.cores / arguments.threads,
        store_read=arguments.bandwidth,
        store_write=arguments.bandwidth,
        link=arguments.network,
        coordinator_s=COORDINATOR_S,
    )
    taken: Mapping[int, Effort] = efforts(plan, file_bytes, arguments.threads)
    if arguments.log is not None:
        base = logged(arguments.log)
        if set(base.efforts) == set(plan.tasks):
            taken, machines = whole(base, machines)
        else:
            factor = measured(base, plan)
            taken = {number: replace(e, seconds=e.seconds * factor) for number, e in taken.items()}
    outcome = simulate(plan, taken, machines)
    requests = Requests.of(plan, arguments.keep == "counts")
    show(arguments, plan, taken, outcome, requests)
    return 0


def logged(path: str) -> Run:
    """The run of a log of events."""
    with open(path, encoding="utf-8") as log:
        try:
            return Run.parse(log.readlines())
        except (ValueError, KeyError, TypeError) as error:
            raise PlanError(f"--log {path} is not a log of events: {error}") from error


def stored_share(program: str, init: list[str]) -> float:
    """Bits of a block's file for a position, as `trinim plan` assumes."""
    # The program trinim, which lies beside trinim-task, plans a whole solve.
    solver = str(program).removesuffix("-task")
    ended = trinim.run([solver, "plan", *init, "--keep", "database", "--json"])
    if ended.returncode != 0:
        raise TrinimError("plan", ended.returncode, trinim.last_words(ended.stderr, ended.stdout))
    return float(json.loads(ended.stdout)["database_bits_per_position"])


def whole(base: Run, machines: Machines) -> tuple[Mapping[int, Effort], Machines]:
    """What the tasks of a real run took, and how long a slot waited for the next."""
    wait = statistics.median(base.waits) if base.waits else 0.0
    taken: Mapping[int, Effort] = base.efforts
    if machines.store_read == float("inf"):
        # The times of the log include reading and writing already.
        taken = {number: Effort(effort.seconds) for number, effort in taken.items()}
    return taken, Machines(**asdict(machines) | {"coordinator_s": 0.0, "dispatch_s": wait})


def measured(base: Run, plan: Plan) -> float:
    """Processor time by the log of a part of a run, over that of the same blocks by the rates."""
    taken = modelled = 0.0
    for number, computed in base.blocks.items():
        if computed == 0:
            continue
        if number not in plan.tasks or computed > len(plan.tasks[number].blocks):
            raise PlanError(f"the log belongs to another plan: task {number}")
        taken += base.threads * base.efforts[number].seconds
        modelled += plan.tasks[number].cost * computed / len(plan.tasks[number].blocks)
    if modelled == 0.0:
        raise PlanError("no task of this plan is done in the log")
    return taken / modelled


def show(
    arguments: argparse.Namespace,
    plan: Plan,
    taken: Mapping[int, Effort],
    outcome: Outcome,
    requests: Requests,
) -> None:
    """Prints the estimate."""
    core_hours = sum(effort.seconds for effort in taken.values()) * arguments.threads / 3600
    rented_hours = arguments.machines * arguments.cores * outcome.seconds / 3600
    read, written = (
        sum(getattr(effort, name) for effort in taken.values())
        for name in ("read_bytes", "write_bytes")
    )
    # A store that keeps counts is half full on average; one that keeps all in the end is, too.
    stored = outcome.peak_live_bytes if arguments.keep == "counts" else written
    gib_months = stored / 2 / 2**30 * outcome.seconds / (30 * 86400)
    dollars = {
        "cores": arguments.core_price * rented_hours,
        "requests": requests.dollars,
        "storage": GIB_MONTH * gib_months,
    }
    levels = 1 + max(task.level for task in plan.tasks.values())
    if arguments.json:
        figures: dict[str, Any] = asdict(outcome) | {
            "efficiency": outcome.efficiency,
            "tasks": len(plan.tasks),
            "blocks": plan.blocks,
            "levels": levels,
            "core_hours": core_hours,
            "read_bytes": read,
            "written_bytes": written,
            "requests": asdict(requests),
            "dollars": dollars,
        }
        print(json.dumps(figures))
        return
    names = ", ".join(f"{name.upper()} {count:,}" for name, count in asdict(requests).items())
    costs = ", ".join(f"{name} {cost:,.2f}" for name, cost in dollars.items())
    level_text = counted(levels, "level")
    for label, text in (
        ("tasks", f"{len(plan.tasks):,} of {counted(plan.blocks, 'block')}, {level_text}"),
        ("time", readable_seconds(outcome.seconds)),
        ("at least", f"{readable_seconds(outcome.critical_path_s)}, the longest path"),
        ("slots busy", f"{100 * outcome.efficiency:.0f} % of {outcome.slots:,}"),
        ("core hours", f"{core_hours:,.0f} of computation, {rented_hours:,.0f} rented"),
        ("read", size(read)),
        ("written", size(written)),
        ("store", f"{size(stored)} at most"),
        ("requests", names),
        ("dollars", f"{sum(dollars.values()):,.2f} at list prices: {costs}"),
    ):
        print(f"{label:10} {text}")


def size(number: float) -> str:
    """Like 1,374.0 TiB."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if number < 1024:
            return f"{number:.1f} {unit}"
        number /= 1024
    return f"{number:,.1f} TiB"
