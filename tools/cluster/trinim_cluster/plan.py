"""The plan: tasks in an order in which each comes after its sources.

A task is one block, or a batch of blocks that share sources. `trinim-task plan` prints one a line.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


class PlanError(ValueError):
    """A line of the plan that cannot be right."""


@dataclass(frozen=True, slots=True)
class Task:
    """Blocks that one process computes, and the tasks that have to be committed before."""

    number: int
    blocks: tuple[int, ...]
    sources: tuple[int, ...]
    level: int
    cost: float
    reads: int | None = None  # files, if it has room for all its blocks; of a block its sources


class Plan:
    """All tasks, each after its sources; a block belongs to one task."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self.tasks: dict[int, Task] = {}
        self.task_of_block: dict[int, int] = {}
        self.targets: dict[int, list[int]] = {}
        for task in tasks:
            if task.number in self.tasks:
                raise PlanError(f"task {task.number} is listed twice")
            for source in task.sources:
                if source not in self.tasks:
                    raise PlanError(f"task {task.number} comes before its source {source}")
                self.targets[source].append(task.number)
            for block in task.blocks:
                if block in self.task_of_block:
                    raise PlanError(f"block {block} is listed twice")
                self.task_of_block[block] = task.number
            self.tasks[task.number] = task
            self.targets[task.number] = []
        self.longest: dict[int, float] = longest_paths(tasks, self.targets)
        # The lowest goes first. Blocks alone come in the order of a solve, which needs most sources
        # again soon and keeps few files at a time; batches by the work that is behind them.
        is_alone = all(len(task.blocks) == 1 for task in tasks)
        self.rank: dict[int, float] = {
            task.number: place if is_alone else -self.longest[task.number]
            for place, task in enumerate(tasks)
        }

    @property
    def blocks(self) -> int:
        return len(self.task_of_block)

    @property
    def cost(self) -> float:
        return sum(task.cost for task in self.tasks.values())


def longest_paths(tasks: Sequence[Task], targets: dict[int, list[int]]) -> dict[int, float]:
    """For each task, the cost of the longest path from it to the end, its own included."""
    longest: dict[int, float] = {}
    for task in reversed(tasks):
        behind = max((longest[target] for target in targets[task.number]), default=0.0)
        longest[task.number] = task.cost + behind
    return longest


def parse(lines: Iterable[str]) -> Plan:
    """The plan in JSON lines, of blocks (`block`) or of batches (`batch`, `blocks`)."""
    tasks: list[Task] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            tasks.append(parse_line(line))
        except (KeyError, TypeError, ValueError) as error:
            raise PlanError(
                f"line {number} of the plan: {error!r} in {line.strip()[:200]}"
            ) from error
    return Plan(tasks)


def parse_line(line: str) -> Task:
    fields = json.loads(line)
    if not isinstance(fields, dict):
        raise ValueError("no object")
    sources = tuple(whole(source) for source in fields["sources"])
    level = whole(fields["level"])
    cost = float(fields["cost"])
    if not 0.0 <= cost < float("inf"):
        raise ValueError(f"cost {cost}")
    if "batch" in fields:
        number = whole(fields["batch"])
        blocks = tuple(whole(block) for block in fields["blocks"])
    else:
        number = whole(fields["block"])
        blocks = (number,)
    if not blocks:
        raise ValueError("no block")
    reads = whole(fields["reads"]) if "reads" in fields else None
    return Task(number, blocks, sources, level, cost, reads)


def whole(value: object) -> int:
    """A number of a block or level: JSON has no other way to say that 1.5 is none."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{value!r} is not a number of a block")
    return value
