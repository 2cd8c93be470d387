"""Shares of the check of a finished store, as tasks that need nothing of each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from trinim_cluster import trinim
from trinim_cluster.ledger import Verdict
from trinim_cluster.plan import Plan, Task
from trinim_cluster.trinim import Job, Store

# Exit codes of `trinim-task verify` that are answers.
CORRECT = 0
WRONG = 1
DAMAGED = 3


def plan(of: int) -> Plan:
    """A task for each share, from 0. The first has most to do: it checks the lists, too."""
    return Plan([Task(share, (share,), (), 0, 2.0 if share == 0 else 1.0) for share in range(of)])


@dataclass(frozen=True, slots=True)
class Shares:
    """The work of a check. Nothing of it is kept: a new session begins again."""

    store: Store
    of: int

    def task(self, blocks: Sequence[int], options: Sequence[str]) -> Job:
        return self.store.shard(blocks[0] + 1, self.of, options)

    def verdict(self, code: int) -> Verdict:
        """A finding is an answer: the same share would find it again."""
        return Verdict.DONE if code in (CORRECT, WRONG, DAMAGED) else trinim.verdict(code)

    def listing(self) -> list[int]:
        return []


def total(reports: Sequence[dict[str, Any]], of: int) -> dict[str, Any]:
    """One report of all shares. A share that found damage before it could count says so."""
    whole: dict[str, Any] = {"schema": "trinim.cluster.verify/1", "ok": True, "shares": of}
    counts = ("files", "file_bytes", "blocks", "positions", "canonical_positions", "differences")
    whole |= {"damaged": False, **dict.fromkeys(counts, 0), "findings": []}
    for report in reports:
        failure = "exit_code" in report
        whole["ok"] &= report.get("ok", False)
        whole["damaged"] |= report.get("damaged", failure)
        for count in counts:
            whole[count] += report.get(count, 0)
        whole["findings"] += [report["reason"]] if failure else report["findings"]
    whole["ok"] &= len(reports) == of
    return whole


def exit_code(report: dict[str, Any]) -> int:
    """The exit code of `trinim verify` for the same findings."""
    if report["ok"]:
        return CORRECT
    return DAMAGED if report["damaged"] else WRONG
