#!/usr/bin/env python3
"""Simulates a solve on more cores than this machine has: a model, not a measurement.

    tools/threads.py TRINIM REPORT [--threads N,..]

REPORT is what `trinim solve --json` printed of a triangle whose blocks went through shared logs. The time of each stage is
spread over the block graph (`trinim papers layout --edges`): settle, publish, encode and write evenly over the blocks, decode,
waiting for reads, apply and audit over the edges, orienting over the oriented edges. As many workers as threads then
take blocks in the order of the solve, each as soon as its sources are finished.

The model knows the graph alone. It takes every core to be as fast as one of those of the report, so the columns beside the
time say what device and memory would have to deliver: the bytes of the logs, and each bitmap that a stage goes over
counted once, so a lower bound. Prints a table in Markdown.
"""

import argparse
import collections
import heapq
import json
import subprocess

GIB = 1 << 30
OF_BLOCKS = ("settle", "publish", "encode", "write", "commit", "await_write")
OF_EDGES = ("decode", "await_read", "read", "apply", "audit")


def graph(program, report):
    """Returns for each block, in the order of the solve, its sources and how many edges are oriented."""
    command = [program, "papers", "layout", "--layers", str(report["layers"]), "--edges", "--json"]
    command += ["--block-bits", str(report["offset_bits"])]
    layout = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    if sorted(layout["bid_cells"]) != sorted(report["bid_cells"]):
        raise SystemExit("the report is of another layout than the suggested one")
    edges = collections.defaultdict(list)
    oriented = collections.Counter()
    for edge in layout["edges"]:
        edges[edge["target"]].append(edge["source"])
        oriented[edge["target"]] += edge["child"] != edge["source"]
    blocks = sorted({*edges, *(source for sources in edges.values() for source in sources)})
    assert len(blocks) == layout["canonical_blocks"]
    return [(block, edges[block], oriented[block]) for block in blocks]


def costs(blocks, stages):
    """Returns the seconds of a worker for each block."""
    edges = sum(len(sources) for _, sources, _ in blocks)
    of_block = sum(stages.get(name, 0) for name in OF_BLOCKS) / len(blocks)
    of_edge = sum(stages.get(name, 0) for name in OF_EDGES) / edges
    of_turn = stages.get("orient", 0) / max(1, sum(oriented for *_, oriented in blocks))
    return {block: of_block + of_edge * len(sources) + of_turn * oriented for block, sources, oriented in blocks}


def seconds(blocks, cost, workers):
    """Returns the time at which the last block is finished."""
    missing = {block: len(set(sources)) for block, sources, _ in blocks}
    targets = collections.defaultdict(list)
    for block, sources, _ in blocks:
        for source in set(sources):
            targets[source].append(block)
    ready = [block for block, count in missing.items() if count == 0]
    heapq.heapify(ready)
    running, now = [], 0.0
    while ready or running:
        while ready and len(running) < workers:
            block = heapq.heappop(ready)
            heapq.heappush(running, (now + cost[block], block))
        now, block = heapq.heappop(running)
        for target in targets[block]:
            missing[target] -= 1
            if missing[target] == 0:
                heapq.heappush(ready, target)
    return now


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("report")
    parser.add_argument("--threads", default="1,2,4,8,16,32,64")
    arguments = parser.parse_args()
    with open(arguments.report, encoding="utf-8") as file:
        report = json.load(file)
    blocks = graph(arguments.program, report)
    cost = costs(blocks, report["stages_s"])
    one = sum(cost.values())
    logs = report["log_bytes_written"] + report["log_bytes_read"]
    bitmaps = (len(blocks) + sum(len(sources) for _, sources, _ in blocks)) * (1 << report["offset_bits"]) // 8
    longest = {}
    for block, sources, _ in blocks:
        longest[block] = cost[block] + max((longest[source] for source in sources), default=0)
    print(f"longest chain of blocks: {max(longest.values()):.0f} s\n")
    print("| threads | time | of one thread's | busy | logs | bitmaps |\n|---|---|---|---|---|---|")
    for workers in map(int, arguments.threads.split(",")):
        time = seconds(blocks, cost, workers)
        share, rates = one / time / workers, [amount / GIB / time for amount in (logs, bitmaps)]
        print(f"| {workers} | {time:,.0f} s | {one / time:.1f} | {share:.0%} | {rates[0]:.2f} GiB/s | {rates[1]:.0f} GiB/s |")


if __name__ == "__main__":
    main()
