"""A dress rehearsal: a large board through driver, scheduler and store, which are killed twice.

    python rehearsal.py FOLDER [OPTIONS OF trinim-cluster solve ..]
    python rehearsal.py FOLDER --pieces P [OPTIONS OF trinim-cluster solve ..]

The first runs all blocks, to the end, with a program that computes nothing. Each block gets the
files that it would have: a summary of the right form, without losses, and a file of a few bytes. A
tenth of the tasks fails and is tried again. In the end every block is counted once, and a second
`finish` changes nothing.

The second computes the blocks with at most P pieces on BID cells, and compares the losses of at
most P pieces with the definition. What no other of these blocks needs is deleted once committed.

The board has ten layers unless --layers says otherwise. The same command goes on. TRINIM names the
real program, `trinim-task`; blake3, xxhash and the package in tests/reader are needed beside this
one. tools/record/2026-11-26-ten-layers.md has times and sizes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

import blake3
import xxhash
from tests.session import Session
from trinim_database import few
from trinim_database.board import Board
from trinim_database.layout import Layout
from trinim_database.stores import Store, below

LOST = 10  # one of so many tasks fails
FILE = b"a block that nobody computed"


class Blocks:
    """The files of blocks in a store."""

    def __init__(self, store: Path) -> None:
        task: dict[str, Any] = json.loads((store / "task.json").read_text())
        self.store = store
        self.identity = int(task["identity"], 16)
        board = Board(task["layers"], task["max_take"])
        layout = Layout(board, tuple(task["bid_cells"]), tuple(task["offset_cells"]))
        self.head = b"TRINIMSM" + (1).to_bytes(4, "little")
        self.tail = self.identity.to_bytes(8, "little") + len(FILE).to_bytes(8, "little")
        counts = len(task["offset_cells"]) + 1 + task["layers"] - 1
        self.tail += blake3.blake3(FILE).digest() + bytes(32 + 8 * counts)
        self.folders: set[str] = set()
        places = {layout.places(position)[0] for position in board.first_moves}
        wanted = {bid for bid, _ in places}
        self.first_moves: dict[int, int] = {}
        for block, bid in enumerate(layout.canonical_bids()):
            if bid in wanted:
                self.first_moves[block] = sum(other == bid for other, _ in places)

    def write(self, block: int) -> bool:
        """Commits a block; whether it was not there."""
        file_name = name(block)
        if below(block) not in self.folders:
            for folder in ("db", "summaries"):
                os.makedirs(f"{self.store}/{folder}/{below(block)}", exist_ok=True)
            self.folders.add(below(block))
        summary = f"{self.store}/summaries/{file_name}"
        if os.path.exists(summary):
            return False
        words = -(-self.first_moves.get(block, 0) // 64)
        content = self.head + block.to_bytes(4, "little") + self.tail + bytes(8 * words)
        content += xxhash.xxh3_64_digest(content)[::-1]
        for path, data in ((f"{self.store}/db/{file_name}.blk", FILE), (summary, content)):
            file = os.open(path, os.O_WRONLY | os.O_CREAT)
            os.write(file, data)
            os.close(file)
        return True


def real(arguments: list[str]) -> NoReturn:
    os.execv(os.environ["TRINIM"], ["trinim-task", *arguments])


def part(pieces: int, arguments: list[str]) -> None:
    """The program, if few pieces are asked for: the real one, with a part of its plan."""
    command = arguments[0]
    if command not in ("plan", "sweep", "finish"):
        real(arguments)
    store = Path(arguments[arguments.index("--store") + 1])
    last = store.parent / "last.json"
    if command == "finish":
        print("{}")
        return
    if command == "sweep":
        sweep_part(store, set(json.loads(last.read_text())), arguments)
    output = subprocess.run(
        [os.environ["TRINIM"], *arguments], check=True, stdout=subprocess.PIPE, text=True
    ).stdout
    opened = Store(str(store))
    wanted = set(few.blocks(opened, pieces))
    last.write_text(json.dumps([b for b in wanted if opened.bids[b].bit_count() == pieces]))
    kept = set()
    for line in output.splitlines():
        row = json.loads(line)
        blocks = [block for block in row["blocks"] if block in wanted]
        if blocks:
            kept.add(row["batch"])
            row["sources"] = [source for source in row["sources"] if source in kept]
            row["cost"] *= len(blocks) / len(row["blocks"])
            print(json.dumps(row | {"blocks": blocks}))


def sweep_part(store: Path, last: set[int], arguments: list[str]) -> NoReturn:
    """Sweeps, and removes the files of the last blocks too."""

    def remove(blocks: Iterable[int]) -> None:
        for block in last.intersection(blocks):
            if (store / "summaries" / name(block)).exists():
                (store / "db" / f"{name(block)}.blk").unlink(missing_ok=True)

    remove(last)
    child = subprocess.Popen(
        [os.environ["TRINIM"], *arguments], stdin=subprocess.PIPE, text=True, bufsize=1
    )
    assert child.stdin is not None
    for line in sys.stdin:
        remove(map(int, line.split(",")))
        child.stdin.write(line)
    child.stdin.close()
    sys.exit(child.wait())


def name(block: int) -> str:
    """Of its file, in folders of ten thousand."""
    return f"{below(block)}{block:06}"


def program(arguments: list[str]) -> None:
    """The program: tasks from standard input; everything else is the real one's."""
    if "--batch" not in arguments:
        real(arguments)
    store = Path(arguments[arguments.index("--store") + 1])
    blocks: Blocks | None = None
    for line in sys.stdin:
        blocks = blocks or Blocks(store)
        numbers = [int(number) for number in line.split(",")]
        if os.urandom(1)[0] % LOST == 0:
            # It goes on: to start again would take seconds.
            lost = {"blocks": numbers, "exit_code": 75, "reason": "lost"}
            print(json.dumps({"schema": "trinim.task.failed/1"} | lost), flush=True)
            continue
        new = [block for block in numbers if blocks.write(block)]
        old = sorted(set(numbers) - set(new))
        done = {"computed": new, "skipped": old, "seconds": 0, "read_bytes": 0, "written_bytes": 0}
        print(json.dumps({"schema": "trinim.task/1"} | done), flush=True)


class Watched:
    """Sessions one after the other; most memory of any driver, and the processor time of each."""

    def __init__(self, folder: Path, arguments: list[str]) -> None:
        self.folder, self.arguments = folder, arguments
        self.metrics = folder / "metrics"
        self.peak_kib = 0
        self.processor_s: dict[int, float] = {}
        self.begin()

    def begin(self) -> None:
        # Those of a session before are not its own.
        self.metrics.unlink(missing_ok=True)
        self.session = Session(
            self.folder, str(self.folder / "store"),
            ["--processes", "--workers", "1", "--slots", "2", "--keep", "counts"]
            + ["--trinim", str(self.folder / "trinim-task"), "--metrics", str(self.metrics)]
            + self.arguments,
        )  # fmt: skip

    def share(self) -> float:
        """The blocks that are done, of all."""
        pid = self.session.process.pid
        try:
            peak = Path(f"/proc/{pid}/status").read_text().split("VmHWM:")[1].split()[0]
            self.peak_kib = max(self.peak_kib, int(peak))
            # Of the driver alone: its children have fields of their own.
            ticks = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
            self.processor_s[pid] = sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
            text = self.metrics.read_text()
            values = dict(line.split() for line in text.splitlines() if not line.startswith("#"))
            name = "trinim_cluster_blocks"
            return float(values[f"{name}_done"]) / float(values[name])
        except (OSError, IndexError, KeyError, ValueError):
            return 0.0

    def until(self, share: float) -> None:
        while self.share() < share and self.session.process.poll() is None:
            time.sleep(1.0)
        if self.session.process.poll() is None:
            print(f"{time.strftime('%H:%M:%S')} {100 * self.share():.0f} %", flush=True)

    def kill(self, service: str) -> None:
        """Kills a process of the session as soon as it runs; where all is done, none starts."""
        while self.session.process.poll() is None:
            try:
                self.session.kill(service)
                return
            except (AssertionError, ProcessLookupError):
                time.sleep(0.1)


def main(folder: Path, arguments: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    wrapper = folder / "trinim-task"
    pieces = ""
    if arguments[:1] == ["--pieces"]:
        pieces, arguments = arguments[1], arguments[2:]
    if "--layers" not in arguments:
        arguments = ["--layers", "10", *arguments]
    own = f"{sys.executable} {Path(__file__).resolve()}"
    wrapper.write_text(f'#!/bin/sh\nexec {own} --program "{pieces}" "$@"\n')
    wrapper.chmod(0o755)
    began = time.monotonic()
    run = Watched(folder, arguments)
    for share, killed in ((0.2, "driver"), (0.4, "scheduler"), (0.6, "driver"), (0.8, "scheduler")):
        run.until(share)
        if killed == "driver":
            run.session.end()
            run.begin()
        else:
            run.kill(killed)
    run.until(2.0)
    code = run.session.wait(3600)
    if code != 0:
        raise SystemExit(f"exit code {code}: {run.session.said()}")
    report = run.session.report()
    print(json.dumps(report["cluster"]))
    print(
        f"{time.monotonic() - began:.0f} s, driver at most {run.peak_kib / 2**20:.2f} GiB, "
        f"{sum(run.processor_s.values()):.0f} s of its processor time"
    )
    if pieces:
        raise SystemExit(few.main([str(folder / "store"), pieces]))
    lists = [(folder / "store/db" / name).read_bytes() for name in ("manifest.json", "SUMS")]
    began = time.monotonic()
    again = [os.environ["TRINIM"], "finish", "--store", str(folder / "store"), "--json"]
    second = json.loads(subprocess.run(again, check=True, capture_output=True).stdout)
    print(f"finish again: {time.monotonic() - began:.0f} s, {second['peak_rss_bytes'] >> 20} MiB")
    manifest = json.loads(lists[0])
    left = [(folder / "store/db" / name).read_bytes() for name in ("manifest.json", "SUMS")]
    counted = len(manifest["blocks"]), len({row["bid"] for row in manifest["blocks"]})
    print(f"{counted[0]:,} blocks, {counted[1]:,} of them different")
    if left != lists or counted[0] != counted[1]:
        raise SystemExit("a block was counted twice, or the end is not the same again")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--program"]:
        if sys.argv[2]:
            part(int(sys.argv[2]), sys.argv[3:])
        else:
            program(sys.argv[3:])
    else:
        main(Path(sys.argv[1]).resolve(), sys.argv[2:])
