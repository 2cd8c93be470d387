"""Ten layers on paper: batches, reads, writes and time, counted without solving anything.

The BID cells of a layout are parted: the settings of the *inner* cells are the blocks of one batch,
the settings of the outer ones are the batches. Both sets are closed under the symmetries of the
triangle, so that batches have canonical ones as blocks have. A move updates along its *trace*, the
BID cells that it takes: one cell, or two or more that follow each other among those of a line.

Counted exactly: batches, blocks of a batch (Burnside). Updates, reads and loads of the few batches
that are symmetric are counted by their share of blocks; a source that a batch needs in two
orientations counts twice.
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from trinim_cluster.plan import Plan, Task, parse
from trinim_cluster.progress import readable_seconds
from trinim_cluster.simulate import Effort, Machines, Run, simulate, vary

Cell = tuple[int, int]  # row, column


@dataclass(frozen=True, slots=True)
class Batch:
    """A canonical setting of the outer cells."""

    outer: int
    blocks: int
    updates: int
    reads: int  # updates from other batches: what a task reads that takes its blocks one by one
    loads: int  # blocks of other batches: what a task reads that reads each once
    sources: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Batches:
    """A layout, parted; `batches` in an order in which sources come first."""

    layers: int
    bid_cells: tuple[Cell, ...]
    inner: tuple[Cell, ...]
    batches: tuple[Batch, ...]

    @property
    def offset_bits(self) -> int:
        return self.layers * (self.layers + 1) // 2 - len(self.bid_cells)

    @property
    def blocks(self) -> int:
        return sum(batch.blocks for batch in self.batches)

    @property
    def updates(self) -> int:
        return sum(batch.updates for batch in self.batches)

    @property
    def reads(self) -> int:
        return sum(batch.reads for batch in self.batches)

    @property
    def loads(self) -> int:
        return sum(batch.loads for batch in self.batches)

    def plan(self, settle: float, apply: float) -> Plan:
        return Plan(
            [
                Task(
                    batch.outer,
                    (batch.outer,),
                    batch.sources,
                    batch.outer.bit_count(),
                    settle * batch.blocks + apply * batch.updates,
                )
                for batch in self.batches
            ]
        )


def symmetries(layers: int, cells: Sequence[Cell]) -> list[list[int]]:
    """The symmetries of the triangle that map the cells onto each other, as permutations."""
    index = {cell: at for at, cell in enumerate(cells)}
    found = []
    for order in itertools.permutations(range(3)):
        permutation = []
        for row, column in cells:
            sides = (column, row - column, layers - 1 - row)
            turned = [sides[at] for at in order]
            permutation.append(index.get((turned[0] + turned[1], turned[0]), -1))
        if -1 not in permutation and permutation not in found:
            found.append(permutation)
    return found


def traces(layers: int, cells: Sequence[Cell]) -> set[int]:
    """The traces of all moves, as masks over the cells."""
    lines: dict[tuple[int, int], list[int]] = {}
    for at, (row, column) in enumerate(cells):
        for direction, line in enumerate((row, column, row - column)):
            lines.setdefault((direction, line), []).append(at)
    found = {1 << at for at in range(len(cells))}
    for (direction, _), members in lines.items():
        members.sort(key=lambda at: cells[at][1] if direction == 0 else cells[at][0])
        for begin in range(len(members)):
            for end in range(begin + 2, len(members) + 1):
                found.add(sum(1 << at for at in members[begin:end]))
    return found


def turn(setting: int, permutation: Sequence[int]) -> int:
    return sum(1 << to for at, to in enumerate(permutation) if setting >> at & 1)


def cycles(permutation: Sequence[int]) -> int:
    """Number of cycles: 2 to this power settings are fixed."""
    seen: set[int] = set()
    count = 0
    for at in range(len(permutation)):
        if at not in seen:
            count += 1
            while at not in seen:
                seen.add(at)
                at = permutation[at]
    return count


def part(layers: int, bid_cells: Sequence[Cell], inner: Sequence[Cell]) -> Batches:
    """Counts the batches of a layout whose inner cells are these."""
    inside = set(inner)
    outer_cells = [cell for cell in bid_cells if cell not in inside]
    cells = [*outer_cells, *inner]
    outer_bits, inner_bits = len(outer_cells), len(inner)
    group = symmetries(layers, cells)
    outer_mask = (1 << outer_bits) - 1
    for permutation in group:
        if any(to >= outer_bits for to in permutation[:outer_bits]):
            raise ValueError("the inner cells are not closed under the symmetries")
    # A turn of many settings: by bytes of the setting.
    tables = [
        [
            [turn(byte << low & outer_mask, permutation) for byte in range(256)]
            for low in range(0, outer_bits, 8)
        ]
        for permutation in (each[:outer_bits] for each in group)
    ]

    def images(setting: int) -> list[int]:
        result = []
        for table in tables:
            image = 0
            rest = setting
            for part_of in table:
                image |= part_of[rest & 255]
                rest >>= 8
            result.append(image)
        return result

    canonical = [0] * (1 << outer_bits)
    stabilisers: dict[int, list[int]] = {}
    for setting in range(1 << outer_bits):
        turned = images(setting)
        least = min(turned)
        canonical[setting] = least
        if least == setting:
            stabilisers[setting] = [at for at, image in enumerate(turned) if image == setting]
    inner_cycles = [
        cycles([to - outer_bits for to in permutation[outer_bits:]]) for permutation in group
    ]
    # For each outer part of a trace: the inner parts, and how many blocks of the source are needed.
    inner_parts: dict[int, list[int]] = {}
    for trace in traces(layers, cells):
        inner_parts.setdefault(trace & outer_mask, []).append(trace >> outer_bits)
    needs = [
        (
            outer,
            sum(2 ** (inner_bits - within.bit_count()) for within in parts),
            sum(
                any(setting & within == 0 for within in parts) for setting in range(1 << inner_bits)
            ),
        )
        for outer, parts in inner_parts.items()
    ]
    batches = []
    for setting in sorted(stabilisers, key=lambda setting: (setting.bit_count(), setting)):
        stabiliser = stabilisers[setting]
        blocks = sum(2 ** inner_cycles[at] for at in stabiliser) // len(stabiliser)
        updates = reads = loads = 0
        sources: set[int] = set()
        for outer, all_updates, all_loads in needs:
            if outer & setting == outer:
                updates += all_updates
                if outer:
                    reads += all_updates
                    loads += all_loads
                    sources.add(canonical[setting ^ outer])
        # A symmetric batch evaluates some of its blocks only: its share of updates and loads.
        batches.append(
            Batch(
                setting,
                blocks,
                round(updates * blocks / 2**inner_bits),
                round(reads * blocks / 2**inner_bits),
                round(loads * blocks / 2**inner_bits),
                tuple(sorted(sources, key=lambda source: (source.bit_count(), source))),
            )
        )
    return Batches(layers, tuple(bid_cells), tuple(inner), tuple(batches))


def unions(layers: int, bid_cells: Sequence[Cell], count: int) -> Iterable[tuple[Cell, ...]]:
    """All sets of so many cells that are closed under the symmetries."""
    group = symmetries(layers, bid_cells)
    orbits = {
        tuple(sorted({permutation[at] for permutation in group})) for at in range(len(bid_cells))
    }
    ordered = sorted(orbits)
    for chosen in itertools.product((False, True), repeat=len(ordered)):
        cells = [at for orbit, taken in zip(ordered, chosen, strict=True) if taken for at in orbit]
        if len(cells) == count:
            yield tuple(bid_cells[at] for at in sorted(cells))


def estimate(layers: int, bid_cells: Sequence[Cell], inner: Sequence[Cell]) -> float:
    """Loads of all batches, symmetric or not, without listing these."""
    inside = set(inner)
    outer_bits = len(bid_cells) - len(inner)
    cells = [*(cell for cell in bid_cells if cell not in inside), *inner]
    parts: dict[int, list[int]] = {}
    for trace in traces(layers, cells):
        parts.setdefault(trace & ((1 << outer_bits) - 1), []).append(trace >> outer_bits)
    return sum(
        2.0 ** (outer_bits - outer.bit_count())
        * sum(
            any(setting & within == 0 for within in inner_of) for setting in range(1 << len(inner))
        )
        for outer, inner_of in parts.items()
        if outer
    )


@dataclass(frozen=True, slots=True)
class Rates:
    """Nanoseconds of a thread a position, for a block itself and for each source applied to it."""

    settle_ns: float
    apply_ns: float
    start_s: float = 0.0


def fit(run: Run, plan: Plan, offset_bits: int) -> Rates:
    """Least squares of `seconds = settle + apply * sources` over the tasks of a real run.

    A block's own share contains the start of its process, which is not parted from it here.
    """
    points = [(len(task.sources), run.efforts[task.number].seconds) for task in plan.tasks.values()]
    count = len(points)
    mean_x = sum(x for x, _ in points) / count
    mean_y = sum(y for _, y in points) / count
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / spread
    positions = 2.0**offset_bits
    return Rates((mean_y - slope * mean_x) / positions * 1e9, slope / positions * 1e9)


def options(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the commands `fit` and `ten`."""
    fits = commands.add_parser("fit", help="the rates of a real run, for ten", allow_abbrev=False)
    fits.add_argument("--plan", required=True, metavar="FILE", help="output of trinim task plan")
    fits.add_argument("--log", required=True, metavar="FILE", help="log of a run with one worker")
    fits.add_argument("--offset-bits", required=True, type=int, help="a block has 2^N positions")
    fits.set_defaults(run=run_fit)

    ten = commands.add_parser(
        "ten",
        help="ten layers on paper and in simulation",
        description="Batches, reads, writes and time of a layout. Nothing is solved.",
        allow_abbrev=False,
    )
    ten.add_argument(
        "--layout", required=True, metavar="FILE", help="output of trinim layout --json"
    )
    ten.add_argument(
        "--inner",
        type=int,
        nargs="+",
        default=[0, 3, 6, 9],
        help="inner cells of a batch [0 3 6 9]",
    )
    ten.add_argument(
        "--bits", type=float, required=True, help="size of a block file, bits a position"
    )
    ten.add_argument(
        "--settle-ns", type=float, required=True, help="a position of a block, one thread"
    )
    ten.add_argument(
        "--apply-ns", type=float, required=True, help="a position of a source, one thread"
    )
    ten.add_argument(
        "--simulate", type=int, metavar="INNER", help="simulate batches with so many inner cells"
    )
    ten.add_argument(
        "--machines", nargs="*", default=[], metavar="NODES:BYTES",
        help="nodes and bandwidth of the store in bytes a second, like 32:2e10",
    )  # fmt: skip
    ten.add_argument(
        "--once", action="store_true", help="a batch reads each source once, not for each block"
    )
    ten.add_argument("--slots", type=int, default=4, help="slots of a node [4]")
    ten.add_argument("--threads", type=int, default=4, help="threads of a slot [4]")
    ten.add_argument(
        "--link", type=float, default=3.1e9, help="bytes a second of a node [3.1e9, 25 Gbit/s]"
    )
    ten.add_argument(
        "--coordinator", type=float, default=0.005, help="seconds of the scheduler a task [0.005]"
    )
    ten.add_argument("--sigma", type=float, default=0.2, help="of lognormal times [0.2]")
    ten.set_defaults(run=run_ten)


def run_fit(arguments: argparse.Namespace) -> int:
    with open(arguments.plan, encoding="utf-8") as file:
        plan = parse(file)
    with open(arguments.log, encoding="utf-8") as file:
        rates = fit(Run.parse(file.readlines()), plan, arguments.offset_bits)
    print(f"--settle-ns {rates.settle_ns:.3f} --apply-ns {rates.apply_ns:.4f}")
    return 0


def read_layout(path: str) -> tuple[int, list[Cell]]:
    with open(path, encoding="utf-8") as file:
        layout: dict[str, Any] = json.load(file)
    cells = []
    for index in layout["bid_cells"]:
        row = 0
        while (row + 1) * (row + 2) // 2 <= index:
            row += 1
        cells.append((row, index - row * (row + 1) // 2))
    return layout["layers"], cells


TIB = 2.0**40


def run_ten(arguments: argparse.Namespace) -> int:
    """Two tables in Markdown: ways of batching, and machines."""
    layers, bid_cells = read_layout(arguments.layout)
    print(
        "| inner cells | batches | blocks | updates | read block by block | read once a batch "
        "| written | bitmaps of a batch |"
    )
    print("|---|---|---|---|---|---|---|---|")
    chosen: Batches | None = None
    for count in arguments.inner:
        sets = list(unions(layers, bid_cells, count))
        if not sets:
            continue
        inner = min(sets, key=lambda cells: estimate(layers, bid_cells, cells))
        batches = part(layers, bid_cells, inner)
        block_bytes = arguments.bits * 2.0**batches.offset_bits / 8
        print(
            f"| {' '.join(f'({row},{column})' for row, column in inner) or 'none'} "
            f"| {len(batches.batches):,} | {batches.blocks:,} "
            f"| {batches.updates:,} | {batches.reads * block_bytes / TIB:,.0f} TiB "
            f"| {batches.loads * block_bytes / TIB:,.0f} TiB "
            f"| {batches.blocks * block_bytes / TIB:.1f} TiB "
            f"| {2.0 ** (batches.offset_bits + count - 33):.2f} GiB |"
        )
        if count == arguments.simulate:
            chosen = batches
    if chosen is None:
        return 0
    positions = 2.0**chosen.offset_bits
    settle = arguments.settle_ns * 1e-9 * positions / arguments.threads
    apply = arguments.apply_ns * 1e-9 * positions / arguments.threads
    block_bytes = arguments.bits * positions / 8
    plan = chosen.plan(settle, apply)
    efforts = {
        batch.outer: Effort(
            settle * batch.blocks + apply * batch.updates,
            (batch.loads if arguments.once else batch.reads) * block_bytes,
            batch.blocks * block_bytes,
        )
        for batch in chosen.batches
    }
    efforts = vary(efforts, arguments.sigma, 0)
    print()
    print(
        "| nodes | store | time | by levels | computing alone | reading alone | critical path "
        "| slots in use | live at most |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for text in arguments.machines:
        nodes, store = text.split(":")
        machines = Machines(
            nodes=int(nodes),
            slots=arguments.slots,
            cores=arguments.slots,
            store_read=float(store),
            store_write=float(store),
            link=arguments.link,
            coordinator_s=arguments.coordinator,
        )
        outcome = simulate(plan, efforts, machines)
        levels = simulate(plan, efforts, machines, by_level=True)
        compute = sum(effort.seconds for effort in efforts.values()) / (
            machines.nodes * machines.slots
        )
        bandwidth = min(machines.store_read, machines.nodes * machines.link)
        read = sum(effort.read_bytes for effort in efforts.values()) / bandwidth
        print(
            f"| {machines.nodes} | {machines.store_read / 1e9:g} GB/s "
            f"| {readable_seconds(outcome.seconds)} "
            f"| {readable_seconds(levels.seconds)} | {readable_seconds(compute)} "
            f"| {readable_seconds(read)} "
            f"| {readable_seconds(outcome.critical_path_s)} | {100 * outcome.efficiency:.0f} % "
            f"| {outcome.peak_live_bytes / TIB:.1f} TiB |"
        )
    return 0
