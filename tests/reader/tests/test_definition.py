"""The command `check`: values by the definition of the game, and wrong ones that are planted."""

from __future__ import annotations

import contextlib
import io
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import blake3
import numpy as np
import xxhash
import zstandard
from numpy.typing import NDArray

from tests.brute import GOLDEN, InFolder, trinim
from trinim_database import Database, check, definition
from trinim_database.__main__ import main
from trinim_database.book import FRAME_LOSSES, Book
from trinim_database.errors import Contradiction

BOOKS = Path(os.environ["BOOKS"])


def command(*paths: Path) -> tuple[int, str, str]:
    """The exit code, the output and the message of the command."""
    out, message = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(message):
        code = main(["check", *map(str, paths)])
    return code, out.getvalue(), message.getvalue()


def listed(book: Book) -> NDArray[np.uint64]:
    """The numbers in a book."""
    return np.concatenate([book.numbers(frame) for frame in range(book.frames)])


def write_book(folder: Path, numbers: list[int], more: bytes = b"") -> None:
    """A book of other numbers, with the hashes that belong to them; `more` follows each frame."""
    frames, index, at = b"", b"", 128
    for first in range(0, len(numbers), FRAME_LOSSES):
        part = numbers[first : first + FRAME_LOSSES]
        raw = bytearray()
        for last, number in zip(part, part[1:], strict=False):
            step = number - last - 1
            while step >= 128:
                raw.append(step & 127 | 128)
                step >>= 7
            raw.append(step)
        frame = zstandard.compress(bytes(raw)) + more
        row = part[0], at, len(frame), xxhash.xxh3_64_intdigest(frame)
        index += np.array(row, "<u8").tobytes()
        frames += frame
        at += len(frame)
    counts = len(numbers), len(index) // 32, at, xxhash.xxh3_64_intdigest(index)
    digest = blake3.blake3(np.array(numbers, "<u8").tobytes()).digest()
    old = (folder / "book").read_bytes()
    header = old[:32] + np.array(counts, "<u8").tobytes() + digest + bytes(24)
    header += np.uint64(xxhash.xxh3_64_intdigest(header)).tobytes()
    (folder / "book").write_bytes(header + frames + index)
    sums = (folder / "SUMS").read_text()
    new = blake3.blake3((folder / "book").read_bytes()).hexdigest()
    (folder / "SUMS").write_text(sums.replace(blake3.blake3(old).hexdigest(), new))


class Checked(InFolder):
    """Databases of all kinds."""

    def solve(self, options: str) -> Database:
        shutil.rmtree(self.folder / "run", ignore_errors=True)
        trinim(self.folder, f"solve --out run --memory 64MiB {options}")
        return Database(self.folder / "run")

    def test_right_values_pass(self) -> None:
        for layers, positions in ((1, "2"), (4, "1,024"), (5, "32,768"), (6, "2,097,152")):
            for rule in ("misere", "normal"):
                self.solve(f"--layers {layers} --rule {rule}")
                code, out, message = command(self.folder / "run")
                self.assertEqual((code, message), (0, ""))
                self.assertIn(f"proved    {positions} positions", out)
        for options in (
            "--layers 5 --block-bits 9 --rule normal --values nimbers", "--layers 5 --max-take 2",
            "--layers 5 --block-bits 9 --values remoteness", "--board cram:4x4 --block-bits 8",
            "--board cram:4x4 --values remoteness --rule normal", "--layers 6 --keep book:8",
            "--board cram:4x4 --keep book:6", "--board rect:3x4 --keep book:1 --rule normal",
        ):
            with self.subTest(options=options):
                definition.values(self.solve(options))

    def test_the_books_of_nine_layers_pass(self) -> None:
        for rule in ("misere", "normal"):
            code, out, message = command(BOOKS / f"k9-{rule}")
            self.assertEqual((code, message), (0, ""))
            self.assertIn("compared  270,463,855 positions", out)

    def test_each_flipped_bit_is_a_contradiction(self) -> None:
        """In the frame that the reader has in memory, so that no hash is in the way."""
        for options in (
            "--layers 4", "--layers 5 --rule normal", "--layers 5 --block-bits 9", "--layers 6",
            "--layers 4 --rule normal --values nimbers", "--layers 4 --values remoteness",
        ):
            database = self.solve(options)
            blocks = database._blocks
            assert blocks
            size, ordinals = database.layout.size, range(len(database._bids))
            for ordinal in ordinals:
                blocks.frame(ordinal, 0)
            for seed in range(2 if options == "--layers 6" else 8):
                with self.subTest(options=options, seed=seed):
                    draw = random.Random(seed)
                    ordinal, offset = draw.choice(ordinals), draw.randrange(size)
                    plane = draw.randrange(database.planes)
                    frame = blocks.frame(ordinal, 0)
                    at = plane * database.layout.words + offset // 64
                    blocks._cache[ordinal, 0] = flipped = frame.copy()
                    flipped[at] ^= np.uint64(1) << np.uint64(offset % 64)
                    with self.assertRaises(Contradiction) as caught:
                        definition.values(database)
                    place = np.array([offset], np.uint64)
                    position = database.layout.positions(database._bids[ordinal], place)
                    images = [int(one[0]) for one in database.board.images(position)]
                    found = str(caught.exception)
                    self.assertTrue(any(f"({image:#x})" in found for image in images), found)
                    blocks._cache[ordinal, 0] = frame
            definition.values(database)

    def plant(self, choose: Callable[[list[int], random.Random], int], seed: int) -> str:
        """Lists one number more, or one less, with all hashes right; returns the message."""
        database = Database(self.folder / "run")
        assert database.book
        numbers = listed(database.book).tolist()
        number = choose(numbers, random.Random(seed))
        before = {name: (database.folder / name).read_bytes() for name in ("book", "SUMS")}
        write_book(database.folder, sorted({*numbers} ^ {number}))
        check.database(Database(database.folder))
        code, out, message = command(self.folder / "run")
        self.assertEqual((code, out, message.count("\n")), (1, "", 1), message)
        for name, data in before.items():
            (database.folder / name).write_bytes(data)
        return message

    def test_each_false_or_missing_loss_of_a_book_is_a_contradiction(self) -> None:
        for rule in ("misere", "normal"):
            book = self.solve(f"--layers 6 --keep book:8 --rule {rule}").book
            assert book
            # Fourteen pieces and more have all children in the book, and come first.
            complete = definition._positions(book.board, 14)
            canonical = book.at(np.arange(complete, dtype=np.uint64))
            known = np.flatnonzero(book.board.canonical(canonical) == canonical).tolist()
            for seed in range(3):
                with self.subTest(rule=rule, seed=seed):
                    message = self.plant(lambda _, draw: draw.choice(known), seed)
                    self.assertIn(": position ", message)
                    self.plant(lambda numbers, draw: draw.choice(numbers), seed)

    def test_a_false_and_a_missing_loss_of_nine_layers_are_contradictions(self) -> None:
        shutil.copytree(BOOKS / "k9-misere", self.folder / "run")
        self.plant(lambda numbers, draw: draw.choice(numbers), 1)
        # A loss and a piece more is a win.
        book = Database(self.folder / "run").book
        assert book
        loss = int(book.positions(0)[-1])
        win = np.array([loss | loss + 1], np.uint64)
        number = book.number(int(book.board.canonical(win)[0]))
        self.assertIn("is listed as a loss", self.plant(lambda _, __: number, 1))

    def test_bad_input_is_one_line_and_a_code(self) -> None:
        database = self.solve("--layers 4 --block-bits 7")
        foreign = self.folder / "foreign"
        foreign.write_text("no database")
        with mock.patch.object(definition, "MOST_CELLS", 9):
            for path, expected in (
                (self.folder / "missing", 2), (foreign, 2), (self.folder, 2),
                (self.folder / "run", 2), (GOLDEN / "counts-finished", 2),
                (GOLDEN / "unreleased", 7),
            ):
                code, out, message = command(path)
                self.assertEqual((code, out, message.count("\n")), (expected, "", 1), message)
        for path in database.folder.iterdir():
            whole = path.read_bytes()
            for at in range(0, len(whole), max(1, len(whole) // 10)):
                path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
                code, out, message = command(self.folder / "run")
                self.assertIn(code, (3, 7), message)
                self.assertEqual((out, message.count("\n")), ("", 1), message)
            path.write_bytes(whole)
        (database.folder / "000001.blk").unlink()
        self.assertEqual(command(self.folder / "run")[0], 3)
