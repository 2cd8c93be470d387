"""Databases that the program makes, against the rules of the game and against `trinim export`."""

from __future__ import annotations

import json
import random
import shutil
import tempfile
import unittest
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.brute import (
    GOLDEN, InFolder, by_definition, distances_of, losses_of, nimbers_of, trinim
)
from trinim_database import Board, Damaged, Database, DatabaseError, NotKept, Unsupported, check


STAR = """
name = "star"
cells = [[0, 0.5], [1, 0], [1, 1], [2, 0.25]]
moves = [[0, 1], [0, 2], [0, 1, 3], [2, 3]]
"""


class Solved(InFolder):
    """Boards of up to five layers, with every layout that the sizes of blocks give."""

    def solve(self, options: str) -> Database:
        trinim(self.folder, f"solve --out run --memory 64MiB {options}")
        return Database(self.folder / "run")

    def again(self) -> None:
        shutil.rmtree(self.folder / "run")

    def test_every_value_is_that_of_the_definition(self) -> None:
        for layers, bits in ((1, 1), (2, 1), (3, 3), (3, 6), (4, 4), (4, 7), (4, 10), (5, 12)):
            for rule in ("misere", "normal"):
                for take in ("", "--max-take 2"):
                    if take and layers < 3:
                        continue
                    with self.subTest(layers=layers, bits=bits, rule=rule, take=take):
                        options = f"--layers {layers} --block-bits {bits} --rule {rule} {take}"
                        database = self.solve(options)
                        expected = by_definition(database.board, rule)
                        self.compare(database, expected)
                        self.compare_digest(database)
                        self.again()

    def compare_digest(self, database: Database) -> None:
        stats = json.loads(trinim(self.folder, "stats run --json"))
        self.assertEqual(database.values_digest(), stats["values_digest"])

    def compare(self, database: Database, expected: NDArray[np.bool_]) -> None:
        board = database.board
        losses = np.flatnonzero(expected).astype(np.uint64)
        np.testing.assert_array_equal(database.losses(), losses)
        self.assertEqual(database.losses_listed(), len(losses))
        positions = range(1 << board.cells) if board.cells <= 6 else random.Random(1).sample(
            range(1 << board.cells), 60
        )
        for position in positions:
            value = "loss" if expected[position] else "win"
            self.assertEqual(database.value(position), value)
            self.assertEqual(board.parse(board.rows(position)), position)
            for move in database.moves(position):
                self.assertEqual(move.value == "loss", expected[move.position])
            self.assertEqual(position == 0 or bool(database.winning_moves(position)),
                             position == 0 or value == "win")
        classes: dict[int, set[int]] = {}
        for loss, canonical in zip(losses.tolist(), board.canonical(losses).tolist(), strict=True):
            classes.setdefault(canonical, set()).add(loss)
        found = database.canonical_losses()
        self.assertEqual(
            list(zip(found["position"].tolist(), found["orbit_size"].tolist(), strict=True)),
            [(one, len(members)) for one, members in sorted(classes.items())],
        )

    def test_exports_have_the_same_rows(self) -> None:
        for options in ("--layers 6 --rule normal --block-bits 15",
                        "--layers 5 --bid-cells (1,0)(2,1) --rule misere"):
            database = self.solve(options)
            trinim(self.folder, "export run -o losses.npy --force")
            losses = np.load(self.folder / "losses.npy")
            self.assertEqual(losses.dtype, np.dtype("<u8"))
            np.testing.assert_array_equal(np.sort(losses), database.losses())
            trinim(self.folder, "export run --what canonical -o canonical.npy --force")
            classes = np.load(self.folder / "canonical.npy")
            np.testing.assert_array_equal(np.sort(classes), database.canonical_losses())
            trinim(self.folder, "export run --what values -o values.npy --force")
            values = np.load(self.folder / "values.npy")
            self.assertEqual(len(values), 1 << database.board.cells)
            np.testing.assert_array_equal(
                np.sort(values["position"][values["value"] == 0]), database.losses()
            )
            trinim(self.folder, "export run --sample 100 --seed 3 -o sample.npy --force")
            sample = np.load(self.folder / "sample.npy")
            self.assertEqual(len(np.unique(sample)), 100)
            self.assertTrue(np.isin(sample, losses).all())
            trinim(self.folder, "export run --pieces 2..4 --format csv -o few.csv --force")
            few = np.loadtxt(self.folder / "few.csv", np.uint64, skiprows=1)
            count = np.bitwise_count(losses)
            np.testing.assert_array_equal(
                np.sort(few), np.sort(losses[(count >= 2) & (count <= 4)]))
            text = trinim(self.folder, "export run --format rows -o -").decode().splitlines()
            self.assertEqual([database.board.parse(line) for line in text], losses.tolist())
            self.again()

    def test_a_book_and_counts_have_what_they_keep(self) -> None:
        database = self.solve("--layers 5 --keep book:9")
        expected = by_definition(database.board, "misere")
        enough = np.bitwise_count(np.arange(1 << 15)) >= 9
        losses = np.flatnonzero(expected & enough).astype(np.uint64)
        np.testing.assert_array_equal(np.sort(database.losses()), losses)
        self.assertEqual(int(database.canonical_losses()["orbit_size"].sum()), len(losses))
        for position in random.Random(2).sample(range(1 << 15), 300):
            if position.bit_count() >= 9:
                self.assertEqual(database.is_loss(position), expected[position])
            else:
                self.assertRaises(NotKept, database.value, position)
        trinim(self.folder, "export run --pieces 9.. -o losses.npy")
        np.testing.assert_array_equal(np.sort(np.load(self.folder / "losses.npy")), losses)
        self.again()
        for options in ("--layers 5", "--layers 5 --rule normal", "--layers 1 --rule normal"):
            counts = self.solve(f"{options} --keep counts")
            expected = by_definition(counts.board, counts.rule)
            self.assertEqual(counts.is_loss(counts.board.full), expected[counts.board.full])
            for move in counts.moves(counts.board.full):
                self.assertEqual(move.value == "loss", expected[move.position])
            self.assertRaises(NotKept, counts.losses)
            self.again()

    def test_every_value_of_six_layers_and_of_boards(self) -> None:
        for options in (
            "--layers 6", "--layers 6 --rule normal", "--layers 6 --block-bits 14 --audit 30%",
            "--layers 6 --max-take 3 --block-bits 16", "--layers 5 --min-take 2 --block-bits 9",
            "--board rect:3x3 --block-bits 5", "--board rect:3x5 --max-take 2 --rule normal",
            "--board cram:4x4 --block-bits 8", "--board hex:3 --block-bits 12",
            "--board triangle:5 --block-bits 8", "--board file:star.toml",
        ):
            with self.subTest(options=options):
                (self.folder / "star.toml").write_text(STAR)
                database = self.solve(options)
                expected = losses_of(database.board, database.rule)
                losses = np.flatnonzero(expected).astype(np.uint64)
                np.testing.assert_array_equal(database.losses(), losses)
                check.database(database)
                for position in random.Random(3).sample(range(len(expected)), 15):
                    self.assertEqual(database.is_loss(position), expected[position])
                self.again()

    def test_every_nimber_and_distance(self) -> None:
        for options in ("--layers 4 --block-bits 6", "--layers 5 --block-bits 9", "--layers 6",
                        "--board cram:4x4 --block-bits 8", "--board rect:3x3 --block-bits 5"):
            for values in ("normal --values nimbers", "normal --values remoteness",
                           "misere --values remoteness"):
                with self.subTest(options=options, values=values):
                    self.numbers(self.solve(f"{options} --rule {values}"))
                    self.again()

    def numbers(self, database: Database) -> None:
        board, rule = database.board, database.rule
        nimbers = database.values == "nimbers"
        expected = nimbers_of(board) if nimbers else distances_of(board, rule)
        for number in range(database.planes - database.first):
            found = np.flatnonzero(expected == number).astype(np.uint64)
            np.testing.assert_array_equal(database.with_number(number), found)
        losses = np.flatnonzero(losses_of(board, rule)).astype(np.uint64)
        np.testing.assert_array_equal(database.losses(), losses)
        check.database(database)
        for position in random.Random(4).sample(range(len(expected)), 15):
            self.assertEqual(database.number(position), expected[position])

    def test_books_and_counts_of_boards(self) -> None:
        for options in ("--layers 6 --keep book:8", "--board rect:3x3 --keep book:4",
                        "--board cram:4x4 --keep book:6 --block-bits 9 --rule normal",
                        "--layers 6 --keep counts --block-bits 14", "--board hex:3 --keep counts"):
            with self.subTest(options=options):
                database = self.solve(options)
                expected = losses_of(database.board, database.rule)
                check.database(database)
                for position in [database.board.full, *database.board.first_moves]:
                    self.assertEqual(database.is_loss(position), expected[position])
                pieces = np.bitwise_count(np.arange(len(expected)))
                counts = np.bincount(pieces[expected], minlength=database.board.cells + 1)
                rows = database.manifest["by_pieces"]
                self.assertEqual([row["losses"] for row in rows], counts.tolist())
                for row in database.manifest.get("by_layers", []):
                    cells = row["layers"] * (row["layers"] + 1) // 2
                    self.assertEqual(row["positions"], 1 << cells)
                    self.assertEqual(row["losses"], expected[: 1 << cells].sum())
                if database.keep != "counts":
                    enough = pieces >= int(database.keep.removeprefix("book:"))
                    losses = np.flatnonzero(expected & enough).astype(np.uint64)
                    np.testing.assert_array_equal(np.sort(database.losses()), losses)
                self.again()

    def test_a_flipped_byte_in_each_file_is_noticed(self) -> None:
        for options in ("--board rect:3x3 --block-bits 6", "--layers 4 --keep book:5",
                        "--layers 4 --rule normal --values nimbers --block-bits 7",
                        "--layers 4 --values remoteness --block-bits 7"):
            database = self.solve(options)
            check.database(database)
            for path in database.folder.iterdir():
                whole = path.read_bytes()
                for at in range(0, len(whole), max(1, len(whole) // 25)):
                    path.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
                    with self.assertRaises((DatabaseError, UnicodeDecodeError)):
                        check.database(Database(database.folder))
                path.write_bytes(whole)
            self.again()

    def test_damage_is_an_error(self) -> None:
        database = self.solve("--layers 4 --block-bits 7")
        block = self.folder / "run/db/000001.blk"
        whole = block.read_bytes()
        for at in range(len(whole)):
            block.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
            # Eight bytes of the header have no meaning but a hash.
            self.assertRaises(Damaged, Database(self.folder / "run").losses)
        block.write_bytes(whole[:-1])
        self.assertRaises(DatabaseError, Database(self.folder / "run").losses)
        block.write_bytes(whole)
        self.assertEqual(len(database.losses()), 142)
        (self.folder / "run/db/manifest.json").write_text("{}")
        self.assertRaises(Damaged, Database, self.folder / "run")
        self.assertRaises(DatabaseError, Database, self.folder)


class Golden(unittest.TestCase):
    """The folders that the tests of the program read."""

    def test_they_have_the_losses_of_the_definition(self) -> None:
        board = Board(4)
        expected = by_definition(board, "misere")
        losses = np.flatnonzero(expected).astype(np.uint64)
        np.testing.assert_array_equal(Database(GOLDEN / "finished").losses(), losses)
        self.assertRaises(Unsupported, Database, GOLDEN / "unreleased")
        book = Database(GOLDEN / "book-finished")
        enough = losses[np.bitwise_count(losses) >= 5]
        np.testing.assert_array_equal(np.sort(book.losses()), enough)
        counts = Database(GOLDEN / "counts-finished")
        self.assertEqual(counts.losses_listed(), len(losses))
        self.assertEqual(counts.is_loss(board.full), bool(expected[board.full]))


class Lists(unittest.TestCase):
    """Seven layers: frames with long lists, of which the program checks some positions."""

    def test_seven_layers_have_the_published_count(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            trinim(folder, "solve --layers 7 --out run")
            database = Database(folder / "run")
            count = sum(len(part) for part in database.losses_by_block())
            self.assertEqual(count, 19_496_523)
            drawn = random.Random(5).sample(range(1 << 28), 40)
            answers = trinim(folder, "probe run --brief " + " ".join(map(hex, drawn)))
            for position, line in zip(drawn, answers.decode().splitlines(), strict=True):
                rows, value = line.split()
                self.assertEqual(database.board.rows(position), rows)
                self.assertEqual(database.value(position), value)


if __name__ == "__main__":
    unittest.main()
