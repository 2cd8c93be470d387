#!/usr/bin/env -S python3 -I -S
"""A small `trinim-task` for the tests of the driver: its commands on a made-up board.

A board of k layers has 2^k blocks; a block needs those with one bit less, and its content is a hash
of theirs. So a wrong order, a lost block or a torn file changes the digest.

Environment: FAKE_SECONDS, how long a block takes; FAKE_STARTS, a file to which each start of a task
adds a line; FAKE_FAULTS, a folder in which a file BLOCK (or "sweep") holds exit codes to give, one
a line, the last one again and again; FAKE_VERSION; FAKE_UNMOUNTED, so that tasks find no store. A
sweep that follows removes nothing: it adds to the file `told` what it lists and is told.
"""

import argparse
import ctypes
import hashlib
import json
import os
import secrets
import select
import signal
import socket
import sys
import time
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    if sys.argv[1:] == ["--version"]:
        print("trinim-task", os.environ.get("FAKE_VERSION", "0.0.0 (fake)"))
        return
    parser.add_argument(
        "command", nargs="?", choices=["init", "plan", "list", "finish", "sweep", "verify"]
    )
    parser.add_argument("--store", required=True, type=Path)
    parser.add_argument("--layers", type=int)
    parser.add_argument("--keep", default="database")
    parser.add_argument("--batch")
    parser.add_argument("--batches", type=int)
    parser.add_argument("--threads")
    parser.add_argument("--memory")
    parser.add_argument("--wait")
    parser.add_argument("--idle")
    parser.add_argument("--at-once", type=int, default=1)
    parser.add_argument("--shard")
    parser.add_argument("--older-than", default="1h")
    parser.add_argument("--follow", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--die-with-parent", action="store_true")
    arguments = parser.parse_args()
    store: Path = arguments.store
    task = store / "task.json"
    if arguments.memory == "none":
        parser.error("--memory none")
    if arguments.batch is not None and "FAKE_UNMOUNTED" in os.environ:
        stop(2, f"--store {store}: no such folder")
    if arguments.command == "init":
        if arguments.layers is None:
            parser.error("--layers is missing")
        text = json.dumps({"layers": arguments.layers, "keep": arguments.keep})
        for folder in ("db", "tmp"):
            (store / folder).mkdir(parents=True, exist_ok=True)
        try:
            with task.open("x") as file:
                file.write(text)
        except FileExistsError:
            if task.read_text() != text:
                stop(65, f"{store} is the store of another run: {task.read_text()}")
        return
    try:
        layers = json.loads(task.read_text())["layers"]
    except OSError as error:
        stop(75, f"no store: {error}")
    blocks = 1 << layers
    match arguments.command:
        case "plan":
            for line in plan(layers, arguments.batches):
                print(json.dumps(line))
        case "list":
            for block in committed(store):
                print(json.dumps({"first": block, "last": block}))
        case "sweep":
            if arguments.older_than == "0s":
                for temporary in (store / "tmp").iterdir():
                    temporary.unlink()
            if arguments.follow:
                with open(store / "told", "a", buffering=1) as heard:
                    print("listed", *committed(store), file=heard)
                    for told in sys.stdin:
                        fault("sweep")
                        heard.write(told)
        case "finish":
            missing = blocks - len(committed(store))
            if missing:
                stop(75, f"{missing} blocks are missing")
            digest = hashlib.sha256()
            for block in range(blocks):
                digest.update((store / "db" / f"block-{block}").read_bytes())
            report = {"schema": "trinim.solve/1", "finished": True, "layers": layers}
            print(json.dumps(report | {"losses": blocks, "digest": digest.hexdigest()}))
        case "verify":
            number, of = map(int, arguments.shard.split("/"))
            verify(store, layers, range(blocks * (number - 1) // of, blocks * number // of))
        case None:
            if arguments.die_with_parent:
                ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)
            if arguments.batch == "-":
                patience = float((arguments.idle or "60s").removesuffix("s"))
                # Without a buffer: select does not see what is in one.
                lines = open(0, "rb", buffering=0)
                while select.select([lines], [], [], patience)[0]:
                    asked = lines.readline().decode()
                    if not asked:
                        break
                    wanted = list(map(int, asked.split(",")))
                    try:
                        compute(store, layers, wanted)
                    except SystemExit as error:
                        if arguments.at_once > 1:
                            failed: dict[str, object] = {"schema": "trinim.task.failed/1"}
                            failed |= {"blocks": wanted, "exit_code": error.code}
                            failed |= {"reason": stopped[-1]}
                            print(json.dumps(failed), flush=True)
                        raise
                return
            compute(store, layers, list(map(int, arguments.batch.split(","))))


stopped: list[str] = []


def stop(code: int, message: str) -> None:
    stopped.append(message)
    print(f"error: {message}", file=sys.stderr)
    sys.exit(code)


def sources(block: int, layers: int) -> list[int]:
    return [block & ~(1 << bit) for bit in range(layers) if block >> bit & 1]


def plan(layers: int, batches: int | None) -> list[dict[str, object]]:
    order = sorted(range(1 << layers), key=lambda block: (block.bit_count(), block))
    if batches is None:
        return [
            {
                "block": block,
                "level": block.bit_count(),
                "sources": sources(block, layers),
                "targets": layers - block.bit_count(),
                "cost": 1 + block.bit_count(),
            }
            for block in order
        ]
    # Neighbours: the low bits are inside of a batch.
    inner = max(0, layers - max(0, batches.bit_length() - 1))
    outer = sorted(range(1 << layers - inner), key=lambda batch: (batch.bit_count(), batch))
    return [
        {
            "batch": batch,
            "blocks": [batch << inner | low for low in range(1 << inner)],
            "sources": sources(batch, layers - inner),
            "level": batch.bit_count(),
            "cost": 1 << inner,
        }
        for batch in outer
    ]


def committed(store: Path) -> list[int]:
    return sorted(int(file.name.removeprefix("block-")) for file in (store / "db").iterdir())


def compute(store: Path, layers: int, blocks: list[int]) -> None:
    begin = time.monotonic()
    starts = os.environ.get("FAKE_STARTS")
    if starts:
        with open(starts, "a") as file:
            print(*blocks, file=file)
    computed, skipped = [], []
    for block in sorted(blocks, key=lambda block: (block.bit_count(), block)):
        fault(block)
        final = store / "db" / f"block-{block}"
        if final.exists():
            skipped.append(block)
            continue
        content = hashlib.sha256(str(block).encode())
        for source in sources(block, layers):
            try:
                content.update((store / "db" / f"block-{source}").read_bytes())
            except FileNotFoundError:
                stop(75, f"source {source} of block {block} is missing")
        temporary = (
            store / "tmp" / f"{block}.{socket.gethostname()}.{os.getpid()}.{secrets.token_hex(4)}"
        )
        temporary.write_bytes(content.digest()[:16])
        time.sleep(float(os.environ.get("FAKE_SECONDS", "0")))
        temporary.write_bytes(content.digest())
        temporary.rename(final)
        computed.append(block)
    seconds = time.monotonic() - begin
    report: dict[str, object] = {"schema": "trinim.task/1", "computed": computed}
    report |= {"skipped": skipped, "seconds": seconds}
    report |= {"read_bytes": 0, "written_bytes": 32 * len(computed)}
    print(json.dumps(report), flush=True)


def verify(store: Path, layers: int, blocks: range) -> None:
    """Compares each block of a share with the hash of its sources."""
    findings = []
    for block in blocks:
        fault(block)
        content = hashlib.sha256(str(block).encode())
        for source in sources(block, layers):
            content.update((store / "db" / f"block-{source}").read_bytes())
        if (store / "db" / f"block-{block}").read_bytes() != content.digest():
            findings.append(f"block {block} is damaged")
    time.sleep(float(os.environ.get("FAKE_SECONDS", "0")))
    report = {"ok": not findings, "damaged": bool(findings), "findings": findings}
    print(json.dumps(report | {"blocks": len(blocks), "positions": len(blocks)}))
    sys.exit(3 if findings else 0)


def fault(block: int | str) -> None:
    folder = os.environ.get("FAKE_FAULTS")
    if folder is None:
        return
    file = Path(folder) / str(block)
    if not file.exists():
        return
    codes = file.read_text().split()
    if len(codes) > 1:
        file.write_text("\n".join(codes[1:]))
    if int(codes[0]) != 0:
        stop(int(codes[0]), f"block {block} fails on purpose")


main()
