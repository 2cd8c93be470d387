"""Batches against all settings and all moves of small boards."""

import itertools
import unittest

from trinim_cluster.plan import Plan, Task
from trinim_cluster.simulate import Effort, Run
from trinim_cluster.ten import Cell, cycles, fit, part, symmetries, traces, unions


def moves(layers: int) -> list[frozenset[Cell]]:
    """All runs of adjacent cells of a line, by walking in the three directions from every cell."""
    cells = {(row, column) for row in range(layers) for column in range(row + 1)}
    found = {frozenset([cell]) for cell in cells}
    for row, column in cells:
        for down, right in ((0, 1), (1, 0), (1, 1)):
            taken = [(row, column)]
            while (after := (taken[-1][0] + down, taken[-1][1] + right)) in cells:
                taken.append(after)
                found.add(frozenset(taken))
    return sorted(found, key=sorted)


def images(layers: int, pieces: frozenset[Cell]) -> list[frozenset[Cell]]:
    """The set of pieces under all turns and mirrors."""
    found = []
    for order in itertools.permutations(range(3)):
        turned = set()
        for row, column in pieces:
            sides = [(column, row - column, layers - 1 - row)[at] for at in order]
            turned.add((sides[0] + sides[1], sides[0]))
        found.append(frozenset(turned))
    return found


LAYERS = 6
# Three orbits of the symmetries.
CORNERS: tuple[Cell, ...] = ((0, 0), (5, 0), (5, 5))
SIX: tuple[Cell, ...] = ((1, 0), (1, 1), (4, 0), (4, 4), (5, 1), (5, 4))
MIDDLES: tuple[Cell, ...] = ((2, 1), (4, 1), (4, 3))


class Geometry(unittest.TestCase):
    def test_traces_are_those_of_all_moves(self) -> None:
        for cells in (CORNERS + SIX, SIX + MIDDLES, CORNERS, SIX):
            expected = {
                sum(1 << at for at, cell in enumerate(cells) if cell in move)
                for move in moves(LAYERS)
            } - {0}
            self.assertEqual(traces(LAYERS, cells), expected)

    def test_symmetries(self) -> None:
        self.assertEqual(len(symmetries(LAYERS, CORNERS + SIX)), 6)
        self.assertEqual(len(symmetries(LAYERS, ((0, 0), (1, 0)))), 1)
        self.assertEqual(cycles([1, 0, 2, 4, 5, 3]), 3)

    def test_closed_sets(self) -> None:
        sets = {frozenset(cells) for cells in unions(LAYERS, CORNERS + SIX + MIDDLES, 6)}
        self.assertEqual(sets, {frozenset(SIX), frozenset(CORNERS + MIDDLES)})
        with self.assertRaisesRegex(ValueError, "closed"):
            part(LAYERS, CORNERS + SIX, CORNERS[:1])


class Counts(unittest.TestCase):
    def check(self, outer: tuple[Cell, ...], inner: tuple[Cell, ...]) -> None:
        counted = part(LAYERS, outer + inner, inner)
        cells = outer + inner
        board_moves = moves(LAYERS)

        def canonical(pieces: frozenset[Cell]) -> tuple[Cell, ...]:
            return min(tuple(sorted(image)) for image in images(LAYERS, pieces))

        settings = [
            frozenset(cell for at, cell in enumerate(cells) if setting >> at & 1)
            for setting in range(1 << len(cells))
        ]
        self.assertEqual(counted.blocks, len({canonical(setting) for setting in settings}))
        outer_settings = {canonical(setting & frozenset(outer)) for setting in settings}
        self.assertEqual(len(counted.batches), len(outer_settings))
        position = {batch.outer: at for at, batch in enumerate(counted.batches)}
        some_asymmetric = 0
        for batch in counted.batches:
            here = frozenset(cell for at, cell in enumerate(outer) if batch.outer >> at & 1)
            sources = {
                canonical(here - move)
                for move in board_moves
                if move & frozenset(outer) and move & frozenset(outer) <= here
            }
            told = {
                canonical(frozenset(cell for at, cell in enumerate(outer) if source >> at & 1))
                for source in batch.sources
            }
            self.assertEqual(told, sources)
            for source in batch.sources:
                self.assertLess(position[source], position[batch.outer])
            if len(set(images(LAYERS, here))) < 6:
                continue
            some_asymmetric += 1
            updates, reads, loads = 0, 0, set()
            for chosen in range(1 << len(inner)):
                block = here | frozenset(cell for at, cell in enumerate(inner) if chosen >> at & 1)
                below = {move & frozenset(cells) for move in board_moves}
                for trace in below:
                    if trace and trace <= block:
                        updates += 1
                        if trace & frozenset(outer):
                            reads += 1
                            loads.add(block - trace)
            self.assertEqual(
                (batch.blocks, batch.updates, batch.reads, batch.loads),
                (1 << len(inner), updates, reads, len(loads)),
            )
        self.assertGreater(some_asymmetric, 0)

    def test_inner_corners(self) -> None:
        self.check(SIX, CORNERS)

    def test_inner_middles(self) -> None:
        self.check(SIX, MIDDLES)

    def test_no_inner_cells(self) -> None:
        self.check(SIX, ())


class Fit(unittest.TestCase):
    def test_rates_that_made_the_times_are_found(self) -> None:
        tasks = [
            Task(0, (0,), (), 0, 1.0),
            Task(1, (1,), (0,), 1, 1.0),
            Task(2, (2,), (0, 1), 2, 1.0),
        ]
        efforts = {task.number: Effort(3.0 + 0.5 * len(task.sources)) for task in tasks}
        rates = fit(Run(efforts, 0.0, 1, 1, []), Plan(tasks), 10)
        self.assertAlmostEqual(rates.settle_ns, 3.0 / 1024 * 1e9)
        self.assertAlmostEqual(rates.apply_ns, 0.5 / 1024 * 1e9)
