"""How far a run is, how fast, and how long it will take; the same as metrics for Prometheus."""

from __future__ import annotations

import os
import stat
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

from trinim_cluster.plan import Plan


class NoProgress(Exception):
    """The run stopped because nothing moves; the same command continues it."""


class Interrupted(Exception):
    """A signal asked the driver to stop."""

    def __init__(self, number: int) -> None:
        super().__init__(f"stopped by signal {number}")
        self.number = number


@dataclass
class Speed:
    """Seconds of a slot for one unit of cost, from the last executions."""

    WINDOW = 200

    _recent: deque[tuple[float, float]] = field(default_factory=deque)
    _seconds: float = 0.0
    _cost: float = 0.0

    def ran(self, cost: float, seconds: float) -> None:
        self._recent.append((cost, seconds))
        self._cost += cost
        self._seconds += seconds
        if len(self._recent) > self.WINDOW:
            old_cost, old_seconds = self._recent.popleft()
            self._cost -= old_cost
            self._seconds -= old_seconds

    @property
    def seconds_per_cost(self) -> float | None:
        return self._seconds / self._cost if self._cost > 0.0 else None


def seconds_left(
    plan: Plan, done: set[int], done_cost: float, slots: int, seconds_per_cost: float | None
) -> float | None:
    """The larger of what is left to do, shared by all slots, and of the longest path left.

    None without slots or before the first execution: nothing is known.
    """
    if slots == 0 or seconds_per_cost is None:
        return None
    left = max(plan.cost - done_cost, 0.0)
    path = max((plan.longest[task] for task in plan.tasks if task not in done), default=0.0)
    return max(left / slots, path) * seconds_per_cost


@dataclass(frozen=True, slots=True)
class Progress:
    """One look at a run."""

    blocks: int
    done_blocks: int
    cost: float
    done_cost: float
    running: int
    paused: int
    failed: int
    workers: int
    slots: int
    starts: int
    lost: int
    schedulers_lost: int
    elapsed_s: float
    resumed_blocks: int
    left_s: float | None

    @property
    def rate(self) -> float:
        """Blocks a second in this session."""
        if self.elapsed_s <= 0.0:
            return 0.0
        return (self.done_blocks - self.resumed_blocks) / self.elapsed_s

    def line(self) -> str:
        share = 100.0 if self.cost == 0.0 else 100.0 * self.done_cost / self.cost
        left = "?" if self.left_s is None else readable_seconds(self.left_s)
        parts = [
            f"{self.done_blocks:,} of {counted(self.blocks, 'block')}, {share:.1f} % of the work",
            f"{self.running:,} submitted to {counted(self.slots, 'slot')}"
            f" of {counted(self.workers, 'worker')}",
            f"{self.rate:.2f} blocks/s",
            f"{left} left",
        ]
        if self.paused:
            parts.append(f"{self.paused:,} waiting for the store")
        if self.failed:
            parts.append(f"{self.failed:,} failed")
        return "; ".join(parts)

    def metrics(self) -> str:
        """The text format of Prometheus, as its collector of text files reads it."""
        values: list[tuple[str, str, float]] = [
            ("blocks", "gauge", self.blocks),
            ("blocks_done", "gauge", self.done_blocks),
            ("cost", "gauge", self.cost),
            ("cost_done", "gauge", self.done_cost),
            ("tasks_submitted", "gauge", self.running),
            ("tasks_paused", "gauge", self.paused),
            ("tasks_failed", "gauge", self.failed),
            ("tasks_started_total", "counter", self.starts),
            ("tasks_lost_total", "counter", self.lost),
            ("schedulers_lost_total", "counter", self.schedulers_lost),
            ("workers", "gauge", self.workers),
            ("slots", "gauge", self.slots),
            ("elapsed_seconds", "gauge", self.elapsed_s),
        ]
        if self.left_s is not None:
            values.append(("left_seconds", "gauge", self.left_s))
        return "".join(
            f"# TYPE trinim_cluster_{name} {kind}\ntrinim_cluster_{name} {value:.10g}\n"
            for name, kind, value in values
        )


METRICS_BEGIN = "# TYPE trinim_cluster_"


def is_own(path: Path, begin: str) -> bool:
    """Whether a path is free, or has a regular file that begins like this one."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return False
    except FileNotFoundError:
        return True
    with path.open("rb") as file:
        return file.read(len(begin)) == begin.encode()


def write_metrics(path: Path, text: str) -> None:
    """Replaces the file at once: a reader sees the old text or the new one.

    Anything but earlier metrics stays.
    """
    target = path.resolve()
    if not is_own(target, METRICS_BEGIN):
        raise FileExistsError(f"{path} is not a file of metrics")
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    beside.write_text(text)
    beside.replace(target)


def counted(count: int, noun: str) -> str:
    """A count with its noun, like "1 worker" or "2,000 workers"."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def readable_seconds(seconds: float) -> str:
    """Like 45 s, 12 min 5 s, 3 h 20 min, 12.5 days."""
    whole = int(seconds + 0.5)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    if whole < 2 * 86400:
        return f"{whole // 3600} h {whole % 3600 // 60} min"
    return f"{seconds / 86400:.1f} days"
