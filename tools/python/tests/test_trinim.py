"""The installed package against the program, the definition, and its own promises."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import tempfile
import threading
import time
import unittest
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import trinim

TRINIM = os.environ["TRINIM"]
# Published: [LWS09] table 4-1.
MISERE = {4: 142, 5: 3902, 6: 189_089, 7: 19_496_523}


def program(*words: str) -> str:
    """Runs the program; returns its standard output."""
    done = subprocess.run([TRINIM, "--quiet", *words], capture_output=True, timeout=120, text=True)
    if done.returncode:
        raise AssertionError(f"{words}: {done.returncode} {done.stderr}")
    return done.stdout


def by_definition(
    board: trinim.Board, rule: str
) -> tuple[NDArray[np.bool_], NDArray[np.uint8], NDArray[np.uint8]]:
    """For each position whether the player to move wins, its nimber in normal play, its distance."""
    wins = np.zeros(1 << board.cells, np.bool_)
    nimbers = np.zeros(1 << board.cells, np.uint8)
    distances = np.zeros(1 << board.cells, np.uint8)
    for position in range(1 << board.cells):
        children = board.moves(position) ^ np.uint64(position)
        wins[position] = not wins[children].all() if len(children) else rule == "misere"
        below = set(nimbers[children].tolist())
        nimbers[position] = next(n for n in range(len(below) + 1) if n not in below)
        losing = children[~wins[children]]
        if len(children):
            after = distances[losing].min() if len(losing) else distances[children].max()
            distances[position] = after + 1
    return wins, nimbers, distances


class Folder(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)


class Values(Folder):
    def test_every_position_of_small_boards_has_the_value_of_the_definition(self) -> None:
        boards = [trinim.Board(4), trinim.Board("rect:3x3"), trinim.Board("cram:3x3")]
        boards += [trinim.Board(4, max_take=2), trinim.Board("rect:3x3", min_take=2)]
        for number, board in enumerate(boards):
            everything = np.arange(1 << board.cells)
            for rule in ("misere", "normal"):
                with self.subTest(board=board, rule=rule):
                    wins, nimbers, distances = by_definition(board, rule)
                    folder = self.folder / f"{number}-{rule}"
                    # Blocks of 64 positions, so that there are many.
                    database = trinim.solve(board, folder, rule=rule, block_bits=6)
                    np.testing.assert_array_equal(database.values(everything), wins)
                    np.testing.assert_array_equal(database.losses(), np.flatnonzero(~wins))
                    self.assertEqual(database.stats()["losses"], int((~wins).sum()))
                    folder = self.folder / f"{number}-{rule}-distances"
                    database = trinim.solve(
                        board, folder, rule=rule, values="remoteness", block_bits=6
                    )
                    np.testing.assert_array_equal(database.distances(everything), distances)
                    np.testing.assert_array_equal(database.values(everything), wins)
                    table = database.stats()["by_distance"]
                    assert table is not None
                    counts = np.bincount(distances, minlength=len(table["distance"]))
                    np.testing.assert_array_equal(table["wins"] + table["losses"], counts)
                    if rule == "misere":
                        continue
                    folder = self.folder / f"{number}-nimbers"
                    database = trinim.solve(
                        board, folder, rule=rule, values="nimbers", block_bits=6
                    )
                    np.testing.assert_array_equal(database.nimbers(everything), nimbers)
                    np.testing.assert_array_equal(database.values(everything), wins)

    def test_seven_layers_are_those_of_the_program(self) -> None:
        database = trinim.solve(trinim.Board(7), self.folder / "run")
        board, losses = database.board, database.losses()
        self.assertEqual(len(losses), MISERE[7])
        self.assertTrue((losses[1:] > losses[:-1]).all())
        self.assertFalse(database.values(losses).any())
        # Several batches of each thread, in order and not.
        few = np.arange(1 << 24, dtype=np.uint64)
        lost = few[~database.values(few)]
        np.testing.assert_array_equal(lost, losses[losses < 1 << 24])
        np.random.default_rng(1).shuffle(few)
        lost = few[~database.values(few)]
        np.testing.assert_array_equal(np.sort(lost), losses[losses < 1 << 24])
        drawn = database.random(500, seed=7)
        lines = "\n".join(board.format(int(position)) for position in drawn)
        asked = subprocess.run(
            [TRINIM, "--quiet", "probe", str(self.folder / "run"), "--json", "-"],
            input=lines, capture_output=True, text=True, timeout=120, check=True,
        )
        told = [json.loads(line)["value"] == "win" for line in asked.stdout.splitlines()]
        np.testing.assert_array_equal(database.values(drawn), told)

    def test_arrays_keep_their_shape_and_what_is_no_position_is_refused(self) -> None:
        database = trinim.solve(trinim.Board(4), self.folder / "run")
        square = np.arange(12, dtype=np.int16).reshape(3, 4)
        self.assertEqual(database.values(square).shape, (3, 4))
        self.assertEqual(database.values(square).dtype, np.bool_)
        wins = database.values(square)
        np.testing.assert_array_equal(database.values(square[:, ::2]), wins[:, ::2])
        np.testing.assert_array_equal(database.values(square.astype(">u8")), wins)
        self.assertEqual(database.values([]).shape, (0,))
        self.assertEqual(database.values(5).shape, ())
        for wrong in ([1, 1024], [-1], [2**63]):
            with self.assertRaisesRegex(trinim.RefusedError, "outside of the 10 cells") as caught:
                database.values(wrong)
            self.assertIn("cell 0 in the lowest bit", caught.exception.hint)
        with self.assertRaises(TypeError):
            database.values([1.5])
        with self.assertRaisesRegex(TypeError, "at most 64 bits"):
            database.values([2**64])
        for wrong_mask in (-1, 2**64, 1024):
            with self.assertRaises(trinim.RefusedError):
                database.moves(wrong_mask)
        with self.assertRaises(TypeError):
            database.moves(1.5)  # type: ignore[arg-type]
        with self.assertRaisesRegex(ValueError, "at most 10000000"):
            database.random(10**13)
        with self.assertRaises(ValueError):
            database.losses(pieces=(5, 2))
        with self.assertRaises(trinim.NotKeptError):
            database.nimbers([1])
        with self.assertRaises(trinim.NotKeptError):
            database.distances([1])

    def test_a_database_stays_open_when_the_program_goes_elsewhere(self) -> None:
        board = trinim.Board(4)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        database = trinim.solve(board, "run")
        opened = trinim.Database.open("run")
        os.mkdir("elsewhere")
        os.chdir("elsewhere")
        for one in (database, opened):
            wins, _, _ = by_definition(board, "misere")
            every = np.arange(1 << board.cells, dtype=np.uint64)
            self.assertEqual(one.values(every).tolist(), wins.tolist())

    def test_other_threads_run_meanwhile(self) -> None:
        database = trinim.solve(trinim.Board(6), self.folder / "run")
        positions = np.tile(np.arange(1 << 21, dtype=np.uint64), 8)
        done, ticks = threading.Event(), 0

        def ask() -> None:
            database.values(positions)
            done.set()

        worker = threading.Thread(target=ask)
        worker.start()
        while not done.is_set():
            ticks += 1
            time.sleep(0.001)
        worker.join()
        self.assertGreater(ticks, 5)

    def test_an_array_that_another_thread_changes_is_looked_up_as_it_was(self) -> None:
        database = trinim.solve(trinim.Board(4), self.folder / "run")
        sound = np.tile(np.arange(1 << 10, dtype=np.uint64), 1 << 8)
        expected, given, stop = database.values(sound), sound.copy(), threading.Event()

        def change() -> None:
            while not stop.is_set():
                given[:] = 1 << 60
                given[:] = sound

        worker = threading.Thread(target=change)
        worker.start()
        try:
            for _ in range(200):
                try:
                    found = database.values(given)
                except trinim.RefusedError:
                    # It was copied while there was something else in it.
                    continue
                np.testing.assert_array_equal(found, expected)
        finally:
            stop.set()
            worker.join()


class Solves(Folder):
    def test_progress_is_told_and_its_exception_stops_after_a_checkpoint(self) -> None:
        told: list[tuple[int, int]] = []

        def tell(done: int, blocks: int) -> None:
            told.append((done, blocks))

        trinim.solve(trinim.Board(6), self.folder / "a", progress=tell)
        done, blocks = told[-1]
        self.assertEqual(done, blocks)

        class Enough(Exception):
            pass

        def stop(done: int, blocks: int) -> None:
            raise Enough

        run = partial(trinim.solve, trinim.Board(7), self.folder / "b", block_bits=17, threads=1)
        with self.assertRaises(Enough):
            run(progress=stop)
        database = run()
        self.assertEqual(database.stats()["losses"], MISERE[7])

    def test_an_interrupt_stops_after_a_checkpoint(self) -> None:
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        with self.assertRaises(KeyboardInterrupt):
            # The solve alone may end before: go on until the signal comes.
            for number in range(1000):
                trinim.solve(trinim.Board(7), self.folder / str(number), block_bits=17, threads=1)
        stopped = max(self.folder.iterdir(), key=lambda folder: int(folder.name))
        database = trinim.solve(trinim.Board(7), stopped, block_bits=17)
        self.assertEqual(database.stats()["losses"], MISERE[7])

    def test_the_bytes_are_those_of_the_program(self) -> None:
        trinim.solve(trinim.Board(6), self.folder / "python")
        program("solve", "--layers", "6", "--out", str(self.folder / "program"))
        for file in sorted((self.folder / "program/db").iterdir()):
            same = self.folder / "python/db" / file.name
            self.assertEqual(file.read_bytes(), same.read_bytes(), file.name)

    def test_refusals_have_hints(self) -> None:
        board = trinim.Board(4)
        with self.assertRaisesRegex(trinim.RefusedError, "normal play"):
            trinim.solve(board, self.folder / "a", values="nimbers")
        with self.assertRaisesRegex(trinim.RefusedError, "expected"):
            trinim.solve(board, self.folder / "a", rule="other")  # type: ignore[arg-type]
        with self.assertRaises(trinim.ResourceError) as memory:
            trinim.solve(trinim.Board(8), self.folder / "a", memory=1)
        self.assertIn("more memory", memory.exception.hint)
        trinim.solve(board, self.folder / "a")
        with self.assertRaises(trinim.FolderError) as other:
            trinim.solve(board, self.folder / "a", rule="normal")
        self.assertIn("choose another folder", other.exception.hint)
        self.assertIn("hint: ", "".join(other.exception.__notes__))
        with self.assertRaises(trinim.FolderError):
            trinim.Database.open(self.folder / "nothing")
        block = next((self.folder / "a/db").glob("*.blk"))
        block.write_bytes(block.read_bytes()[:-1] + b"?")
        with self.assertRaises(trinim.DamagedError) as damaged:
            trinim.Database.open(self.folder / "a").values(np.arange(1024))
        self.assertIn("trinim repair", damaged.exception.hint)


class Answers(Folder):
    def test_moves_and_canonical_losses_agree_with_the_values(self) -> None:
        database = trinim.solve(trinim.Board(5), self.folder / "run")
        board = database.board
        for position in database.random(50, seed=3).tolist():
            moves = database.moves(position)
            self.assertEqual(sorted(move.taken for move in moves), board.moves(position).tolist())
            wins = [move.wins for move in moves]
            self.assertEqual(wins, sorted(wins, reverse=True))
            after = database.values([move.position for move in moves])
            np.testing.assert_array_equal(after, np.logical_not(wins))
        losses, (classes, sizes) = database.losses(), database.canonical()
        self.assertEqual(int(sizes.sum()), len(losses))
        images, counts = np.unique(board.canonical(losses), return_counts=True)
        self.assertEqual(len(images), len(classes))
        np.testing.assert_array_equal(np.sort(board.canonical(classes)), images)
        few = database.losses(pieces=(0, 4))
        np.testing.assert_array_equal(few, losses[np.bitwise_count(losses) <= 4])
        self.assertEqual((board.rows, board.names[:3]), ([1, 2, 3, 4, 5], ["a1", "b1", "b2"]))
        self.assertEqual(board.places[:2], [(2.0, 0.0), (1.5, 1.0)])

    def test_positions_are_solved_on_the_spot(self) -> None:
        board = trinim.Board(4)
        for rule in ("misere", "normal"):
            wins, _, _ = by_definition(board, rule)
            for position in range(0, 1024, 37):
                self.assertEqual(trinim.value(board, position, rule=rule), wins[position])
        # Built in, and too many for the spot on a board that is not.
        self.assertTrue(trinim.value(trinim.Board(9), trinim.Board(9).full))
        with self.assertRaisesRegex(trinim.RefusedError, "45 pieces are too many"):
            trinim.value(trinim.Board("rect:5x9"), (1 << 45) - 1)
        with self.assertRaises(trinim.NotKeptError):
            trinim.Database.built_in(9).values([0])

    def compare_stats(self, database: trinim.Database, *which: str) -> None:
        """Compares each count with that of `trinim stats --json`."""
        told = json.loads(program("stats", *which, "--json"))
        for name, found in database.stats().items():
            if isinstance(found, dict):
                columns = [column.tolist() for column in found.values()]
                rows = [dict(zip(found, row)) for row in zip(*columns)]
                self.assertEqual(rows, told[name], name)
            else:
                self.assertEqual(found, told[name], name)

    def test_counts_are_those_of_the_program(self) -> None:
        for rule in ("misere", "normal"):
            database = trinim.Database.built_in(9, rule)
            self.compare_stats(database, "--layers", "9", "--rule", rule)

    def test_an_identity_of_values_is_that_of_the_program(self) -> None:
        board = trinim.Board(4)
        for kind in ("outcomes", "nimbers", "remoteness"):
            with self.subTest(values=kind):
                solve = partial(trinim.solve, board, rule="normal", values=kind)
                digests, identities = set(), set()
                for bits in (6, 8):
                    folder = self.folder / f"{kind}-{bits}"
                    database = solve(folder, block_bits=bits)
                    self.compare_stats(database, str(folder))
                    digests.add(database.stats()["digest"])
                    identities.add(database.stats()["values_digest"])
                # The layouts differ, the values do not.
                self.assertEqual((len(digests), len(identities)), (2, 1))

    def test_boards_and_positions_are_written_and_read(self) -> None:
        board = trinim.Board(3)
        self.assertEqual((repr(board), board.name), ("Board(3)", "triangle:3"))
        self.assertEqual((board.cells, board.full), (6, 63))
        other = trinim.Board("rect:2x3", max_take=2)
        self.assertEqual(repr(other), 'Board("rect:2x3", max_take=2)')
        self.assertEqual((board.parse("1/11/101"), board.format(0x2F)), (0x2F, "1/11/101"))
        self.assertEqual(board.picture("1/11/101").split("\n")[2].split(), ["x", ".", "x"])
        self.assertEqual((board == trinim.Board(3), board == trinim.Board(4)), (True, False))
        self.assertEqual(hash(board), hash(trinim.Board(3)))
        database = trinim.solve(board, self.folder / "run")
        named = "<Database of triangle:3, misere, outcomes, keeps every value>"
        self.assertEqual(repr(database), named)
        self.assertRegex(repr(database.moves("1/00/000")[0]), "^<Move a1 to 0x0: loses>$")
        for wrong in (0, "nothing"):
            with self.assertRaises(trinim.RefusedError):
                trinim.Board(wrong)
        with self.assertRaises(trinim.RefusedError):
            board.parse("2/11/101")
        with self.assertRaises(TypeError):
            pickle.dumps(database)


if __name__ == "__main__":
    unittest.main()
