"""The same schedule on made-up machines: how long a plan takes.

A slot takes the ready task that is first by the plan, as the driver does. A task passes, one
after the other: the coordinator, which serves one task at a time; the read of its sources; its
computation; the write of its blocks. Reads and writes share the bandwidth of the store, and no slot
has more than its share of the node's link; computations share the node's cores. Sharing is equal,
so the next to end is found by the work that each has received, in logarithmic time.

Not here: caches on the nodes, failures, other users of the store.
"""

from __future__ import annotations

import heapq
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trinim_cluster.plan import Plan


@dataclass(frozen=True, slots=True)
class Machines:
    """What a plan runs on. Bandwidths are in bytes a second; `inf` takes no time."""

    nodes: int
    slots: int  # of a node
    cores: float  # of a node, in tasks: 16 cores hold 4 tasks of 4 threads
    store_read: float = float("inf")
    store_write: float = float("inf")
    link: float = float("inf")  # of a node
    coordinator_s: float = 0.0
    dispatch_s: float = 0.0  # a slot waits so long for its next task


@dataclass(frozen=True, slots=True)
class Effort:
    """What a task takes."""

    seconds: float  # computation, with the cores to itself
    read_bytes: float = 0.0
    write_bytes: float = 0.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a simulated run went. Busy seconds are sums over all tasks, sharing included."""

    seconds: float
    read_s: float
    compute_s: float
    write_s: float
    coordinate_s: float
    peak_live_bytes: float
    critical_path_s: float
    slots: int

    @property
    def efficiency(self) -> float:
        """Share of all slots' time in which something was read, computed or written."""
        if self.seconds == 0.0:
            return 1.0
        return (self.read_s + self.compute_s + self.write_s) / (self.seconds * self.slots)


class Shared:
    """A resource that all jobs on it share equally; none gets more than `most`."""

    def __init__(self, capacity: float, most: float) -> None:
        self.capacity = capacity
        self.most = most
        self.version = 0
        self._now = 0.0
        self._received = 0.0  # by a job that has been here from the beginning
        self._jobs: list[tuple[float, int, int]] = []
        self._order = itertools.count()

    @property
    def rate(self) -> float:
        return min(self.most, self.capacity / max(1, len(self._jobs)))

    def _advance(self, now: float) -> None:
        if now > self._now and self._jobs:
            self._received += (now - self._now) * self.rate
        self._now = now

    def add(self, job: int, work: float, now: float) -> None:
        self._advance(now)
        heapq.heappush(self._jobs, (self._received + work, next(self._order), job))
        self.version += 1

    def next_end(self) -> float | None:
        """When the next job ends if no other comes."""
        if not self._jobs:
            return None
        return self._now + max(self._jobs[0][0] - self._received, 0.0) / self.rate

    def pop(self, now: float) -> int:
        """Ends the job that `next_end` was about."""
        self._advance(now)
        until, _, job = heapq.heappop(self._jobs)
        self._received = max(self._received, until)
        self.version += 1
        return job


def simulate(plan: Plan, efforts: Mapping[int, Effort], machines: Machines) -> Outcome:
    """Runs a plan."""
    coordinator, read, write = 0, 1, 2
    share = machines.link / machines.slots
    resources = [
        Shared(1.0, 1.0),
        Shared(machines.store_read, share),
        Shared(machines.store_write, share),
        *(Shared(machines.cores, 1.0) for _ in range(machines.nodes)),
    ]
    first_node = 3
    free = [(0, node) for node in range(machines.nodes)]  # busy slots, node: a heap
    node_of: dict[int, int] = {}
    phase: dict[int, int] = {}
    entered: dict[int, float] = {}
    busy = [0.0, 0.0, 0.0, 0.0]
    missing = {number: len(task.sources) for number, task in plan.tasks.items()}
    targets_left = {number: len(plan.targets[number]) for number in plan.tasks}
    live = peak = 0.0
    ready: list[tuple[float, int]] = []
    events: list[tuple[float, int, int, int]] = []
    sequence = itertools.count()
    now = 0.0
    done = 0

    def offer(number: int) -> None:
        heapq.heappush(ready, (plan.rank[number], number))

    def announce(which: int) -> None:
        end = resources[which].next_end()
        if end is not None:
            heapq.heappush(events, (end, next(sequence), which, resources[which].version))

    def enter(number: int, which: int, work: float) -> None:
        entered[number] = now
        resources[which].add(number, work, now)
        announce(which)

    busy_slots = [0] * machines.nodes

    def assign() -> None:
        while ready and free:
            taken, node = heapq.heappop(free)
            if taken != busy_slots[node]:
                continue  # an older entry of this node
            _, number = heapq.heappop(ready)
            busy_slots[node] += 1
            if busy_slots[node] < machines.slots:
                heapq.heappush(free, (busy_slots[node], node))
            node_of[number] = node
            phase[number] = 0
            enter(number, coordinator, machines.coordinator_s)

    for number, count in missing.items():
        if count == 0:
            offer(number)
    assign()
    while events:
        end, _, which, version = heapq.heappop(events)
        if version != resources[which].version:
            continue
        now = end
        number = resources[which].pop(now)
        announce(which)
        busy[min(phase[number], 3)] += now - entered[number]
        phase[number] += 1
        effort = efforts[number]
        node = node_of[number]
        match phase[number]:
            case 1:
                enter(number, read, effort.read_bytes)
            case 2:
                enter(number, first_node + node, effort.seconds + machines.dispatch_s)
            case 3:
                enter(number, write, effort.write_bytes)
            case _:
                done += 1
                busy_slots[node] -= 1
                heapq.heappush(free, (busy_slots[node], node))
                live += effort.write_bytes
                peak = max(peak, live)
                for source in plan.tasks[number].sources:
                    targets_left[source] -= 1
                    if targets_left[source] == 0:
                        live -= efforts[source].write_bytes
                for target in plan.targets[number]:
                    missing[target] -= 1
                    if missing[target] == 0:
                        offer(target)
                assign()
    if done != len(plan.tasks):
        raise ValueError(f"{len(plan.tasks) - done} tasks never became ready")
    return Outcome(
        seconds=now,
        coordinate_s=busy[0],
        read_s=busy[1],
        compute_s=busy[2],
        write_s=busy[3],
        peak_live_bytes=peak,
        critical_path_s=critical_path(plan, efforts, machines),
        slots=machines.nodes * machines.slots,
    )


def critical_path(plan: Plan, efforts: Mapping[int, Effort], machines: Machines) -> float:
    """The longest path if every task is alone on its node and the store."""
    read = min(machines.store_read, machines.link / machines.slots)
    write = min(machines.store_write, machines.link / machines.slots)
    longest: dict[int, float] = {}
    for number, task in plan.tasks.items():
        effort = efforts[number]
        alone = (
            machines.coordinator_s + machines.dispatch_s + effort.seconds / min(1.0, machines.cores)
        )
        alone += effort.read_bytes / read + effort.write_bytes / write
        longest[number] = alone + max((longest[source] for source in task.sources), default=0.0)
    return max(longest.values(), default=0.0)


@dataclass(frozen=True, slots=True)
class Run:
    """What the log of events of a real run says (`trinim-cluster solve --log`)."""

    efforts: dict[int, Effort]
    waits: list[float]  # of a worker, between the end of a task and the start of the next
    blocks: dict[int, int]  # that were computed for each task
    threads: int = 1  # of a task

    @staticmethod
    def parse(lines: Sequence[str]) -> Run:
        efforts: dict[int, Effort] = {}
        blocks: dict[int, int] = {}
        threads = 1
        ended_by_worker: dict[str, float] = {}
        waits: list[float] = []
        for line in lines:
            event: dict[str, Any] = json.loads(line)
            if event["event"] == "run":
                threads = int(event["threads"])
            if event["event"] != "task" or event["verdict"] != "done":
                continue
            report = event["report"] or {}
            efforts[event["task"]] = Effort(
                event["ended"] - event["began"],
                float(report.get("read_bytes", 0)),
                float(report.get("written_bytes", 0)),
            )
            blocks[event["task"]] = len(report.get("computed", ()))
            worker = event["worker"]
            if worker in ended_by_worker:
                waits.append(max(0.0, event["began"] - ended_by_worker[worker]))
            ended_by_worker[worker] = event["ended"]
        return Run(efforts, waits, blocks, threads)
