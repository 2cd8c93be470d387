"""Runs that were killed, against the rules of the game: records, summaries, logs."""

from __future__ import annotations

import shutil
import unittest
from collections import Counter
from pathlib import Path

import blake3
import numpy as np
from numpy.typing import NDArray

from tests.brute import (
    GOLDEN, InFolder, distances_of, killed, losses_of, nimbers_of, trinim
)
from trinim_database import Damaged, Database, DatabaseError, check, few
from trinim_database.blocks import Blocks, set_bits
from trinim_database.board import Board, permute
from trinim_database.book import Book
from trinim_database.runs import Entry, Extent, Run
from trinim_database.stores import Store

CODECS = "raw zstd1 rows-bytes rows-huffman".split()


def orientations(run: Run) -> list[tuple[int, ...]]:
    """The symmetries that map the set of BID cells to itself, as entries number them."""
    bids = set(run.layout.bid_cells)
    return [image for image in run.board.numbered if {image[cell] for cell in bids} == bids]


class Values:
    """The values of a run's board by brute force, plane by plane."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.offsets = np.arange(run.layout.size, dtype=np.uint64)
        self.planes = [losses_of(run.board, run.rule)]
        if run.values == "nimbers":
            nimbers = nimbers_of(run.board)
            self.planes = [nimbers == nimber for nimber in range(run.planes)]
        elif run.values == "remoteness":
            distances = distances_of(run.board, run.rule)
            self.planes += [distances == distance for distance in range(run.planes - 1)]

    def bitmap(self, values: NDArray[np.bool_]) -> NDArray[np.uint64]:
        """Values of offsets as words."""
        padded = np.zeros(self.run.layout.words * 64, np.bool_)
        padded[: len(values)] = values
        return np.packbits(padded, bitorder="little").view("<u8").astype(np.uint64)

    def block(self, bid: int) -> NDArray[np.uint64]:
        """The words of a block, all planes."""
        positions = self.run.layout.positions(bid, self.offsets)
        return np.concatenate([self.bitmap(plane[positions]) for plane in self.planes])

    def turned(self, source: int, target: int, orientation: int, restriction: int) -> NDArray[
            np.uint64]:
        """What a dedicated entry has of a source: turned, without what no move reaches."""
        layout = self.run.layout
        positions = layout.positions(self.run.bids[source], self.offsets)
        image = permute(positions, orientations(self.run)[orientation])
        cells = {cell: bit for bit, cell in enumerate(layout.offset_cells)}
        places = permute(image, [cells.get(cell, 63) for cell in range(self.run.board.cells)])
        places &= np.uint64(layout.size - 1)
        kept = places & np.uint64(restriction) == 0
        words = []
        for plane in self.planes:
            values = np.zeros(layout.size, np.bool_)
            values[places[kept]] = plane[positions[kept]]
            words.append(self.bitmap(values))
        return np.concatenate(words)


class Compared(InFolder):
    """Every record, summary, published file and entry of a run or store, as far as it is."""

    def setUp(self) -> None:
        super().setUp()
        self.seen: Counter[str] = Counter()

    def compare(self, folder: Path, kind: type[Run] = Run) -> Run:
        run = kind(folder)
        values = Values(run)
        self.assertTrue(run.records)
        for record in run.published():
            self.published(run, values, record.block)
        for block, record in run.records.items():
            self.summary(run, values, block)
            for extent in record.extents:
                if run.log(extent).exists():
                    self.entry(run, values, extent, run.entry(extent))
                else:
                    self.assertTrue(self.unneeded(run, extent), run.log(extent))
        self.seen["values"] += len(run.records) * run.layout.size
        return run

    def unneeded(self, run: Run, extent: Extent) -> bool:
        """Whether a log may be missing: its target, if it has one, is committed."""
        return extent.shared or extent.bucket in run.records

    def published(self, run: Run, values: Values, block: int) -> None:
        record = run.records[block]
        assert record.published
        self.seen["published"] += 1
        words = values.block(run.bids[block])
        if not run.keep.startswith("book:"):
            blocks = Blocks(run.folder / "db", run.identity, len(words))
            np.testing.assert_array_equal(blocks.bitmap(block), words)
            return
        pieces = int(run.keep.removeprefix("book:"))
        part = Book(run.folder / record.published[0], run.board, pieces, run.game, block + 1)
        part.check()
        offsets = set_bits(words)
        positions = run.layout.positions(run.bids[block], offsets)
        enough = positions[np.bitwise_count(positions) >= pieces]
        found = [int(x) for frame in range(part.frames) for x in part.positions(frame)]
        self.assertEqual(set(found), set(run.board.canonical(enough).tolist()))
        self.assertEqual(len(set(found)), len(found))

    def summary(self, run: Run, values: Values, block: int) -> None:
        found = run.summary(block)
        words = values.block(run.bids[block])
        self.assertEqual(found.digest, blake3.blake3(words.astype("<u8").tobytes()).hexdigest())
        losses = set_bits(words[: run.layout.words])
        counts = np.bincount(np.bitwise_count(losses), minlength=len(found.losses))
        self.assertEqual(list(found.losses), counts.tolist())
        if run.planes > 1:
            planes = np.bitwise_count(words.reshape(len(values.planes), -1)).sum(axis=1)
            self.assertEqual(list(found.planes), planes.tolist())
        bits = [bool((losses == offset).any()) for offset in run.first_moves(block)]
        if "keep" in run.parameters:
            self.assertEqual(list(found.first_moves), bits)
            self.assertEqual(list(found.smaller), self.smaller(run, block, losses))

    def smaller(self, run: Run, block: int, losses: NDArray[np.uint64]) -> list[int]:
        """Losses of smaller triangles, in each of the three corners of this one."""
        positions = run.layout.positions(run.bids[block], losses)
        rotations = [permute(positions, run.board.numbered[turn % len(run.board.numbered)])
                     for turn in range(3)] if run.board.layers else []
        return [
            sum(int((image < np.uint64(1 << layers * (layers + 1) // 2)).sum())
                for image in rotations)
            for layers in range(1, run.board.layers)
        ]

    def entry(self, run: Run, values: Values, extent: Extent, entry: Entry) -> None:
        self.seen["shared" if extent.shared else "dedicated"] += 1
        if extent.shared:
            expected = values.block(run.bids[entry.source])
        else:
            (route,) = entry.routes
            self.assertEqual(route.target, extent.bucket)
            expected = values.turned(
                entry.source, route.target, route.orientation, route.restriction)
        np.testing.assert_array_equal(entry.words, expected)
        layout = run.layout
        moves = set(run.board.moves)
        for route in entry.routes:
            # Source, turned, and target differ by moves, and an operation is a move within.
            image = orientations(run)[route.orientation]
            source = np.array([layout.join(run.bids[entry.source])], np.uint64)
            turned = int(permute(source, image)[0])
            between = layout.join(run.bids[route.target]) ^ turned
            self.assertEqual(between & turned, 0)
            common = layout.size - 1
            for operation in route.operations:
                common &= operation
                taken = permute(np.array([operation], np.uint64), layout.offset_cells)
                self.assertIn(int(taken[0]) | between, moves)
            self.assertEqual(common, route.restriction)


class Killed(Compared):
    """Runs that were killed."""

    def test_every_codec(self) -> None:
        for codec in CODECS:
            for options in ("", "--keep counts --log-placement shared --rule normal"):
                with self.subTest(codec=codec, options=options):
                    killed(self.folder, f"--layers 6 --block-bits 12 --codec {codec} {options}")
                    self.compare(self.folder / "run")
        self.assertTrue(self.seen["shared"] and self.seen["dedicated"] and self.seen["published"])

    def test_boards_and_layouts(self) -> None:
        for options in (
            "--board cram:4x4 --block-bits 8", "--board hex:3 --block-bits 13 --rule normal",
            "--board cram:4x4 --block-bits 8 --keep counts --log-placement shared",
            "--layers 6 --max-take 2 --bid-cells (1,0)(2,1)(3,1)(4,2)(5,5)(5,3)",
            "--layers 6 --bid-cells (1,0)(1,1)(2,1)(4,2)(5,2)(5,3)",  # One mirror keeps them.
            "--layers 6 --min-take 2 --block-bits 13",
            "--layers 6 --keep book:9 --block-bits 12",
            "--layers 6 --keep book:9 --block-bits 12 --log-placement dedicated",
            "--layers 5 --rule normal --values nimbers --block-bits 8",
            "--layers 5 --rule normal --values nimbers --block-bits 8 --log-placement dedicated",
            "--layers 5 --values remoteness --block-bits 8 --audit 20%",
        ):
            with self.subTest(options=options):
                killed(self.folder, options)
                self.compare(self.folder / "run")

    def test_golden_folders(self) -> None:
        for name in sorted(GOLDEN.iterdir()):
            if name.is_dir() and name.name not in ("unreleased", "gaps-middle"):
                with self.subTest(name=name.name):
                    self.assertEqual(self.compare(name).damaged_copies, [])

    def test_a_codec_of_another_version_is_refused(self) -> None:
        with self.assertRaisesRegex(Damaged, "codec 4"):
            self.compare(GOLDEN / "gaps-middle")

    def test_a_flipped_byte_is_noticed(self) -> None:
        for name in ("middle-dedicated", "book-middle", "counts-middle"):
            copy = self.folder / name
            shutil.copytree(GOLDEN / name, copy)
            intact = self.used(copy)
            named = {record.published[0] for record in Run(copy).records.values()
                     if record.published}
            for path in sorted(copy.rglob("*")):
                if path.parent.name == "db" and str(path.relative_to(copy)) not in named:
                    continue  # Not committed when the run was killed.
                whole = path.read_bytes() if path.is_file() else b""
                places = range(0, len(whole), max(1, len(whole) // 20))
                for at in places if path.parent.name != "logs" else self.named(copy, path):
                    path.write_bytes(whole[:at] + bytes([whole[at] ^ 8]) + whole[at + 1 :])
                    try:
                        noticed = self.used(copy) != intact
                    except (DatabaseError, UnicodeDecodeError):
                        noticed = True
                    self.assertTrue(noticed, f"{path} at {at}")
                if whole:
                    path.write_bytes(whole)
            self.assertEqual(self.used(copy), intact)

    def named(self, folder: Path, path: Path) -> list[int]:
        """Some bytes of a log that entries have: gaps, and entries of no record, mean nothing."""
        run = Run(folder)
        extents = [extent for record in run.records.values() for extent in record.extents
                   if run.log(extent) == path]
        return [at for extent in extents
                for at in range(extent.offset, extent.offset + extent.length, 7)]

    def used(self, folder: Path) -> list[str]:
        """Reads all that a run has; returns what it says of damaged copies."""
        run = Run(folder)
        for record in run.published():
            assert record.published
            path = folder / record.published[0]
            if path.suffix == ".part":
                Book(path, run.board, 5, run.game, record.block + 1).check()
        for record in run.records.values():
            for extent in record.extents:
                if run.log(extent).exists():
                    run.entry(extent)
        return run.damaged_copies


class Tasks(Compared):
    """Stores of tasks, a few blocks at a time."""

    def test_stores(self) -> None:
        for options, blocks_left in (
            ("--layers 5 --block-bits 10", True),
            ("--layers 5 --block-bits 10 --rule normal --keep counts", False),
            ("--board cram:3x4 --block-bits 8 --audit 10%", True),
            ("--layers 4 --min-take 2 --block-bits 7 --keep counts --rule normal", False),
        ):
            with self.subTest(options=options):
                shutil.rmtree(self.folder / "s", ignore_errors=True)
                trinim(self.folder, f"task init --store s {options}")
                blocks = len(Store(self.folder / "s").bids)
                self.assertGreater(blocks, 3)
                self.seen.clear()
                for block in range(blocks):
                    trinim(self.folder, f"task --store s --batch {block}")
                    if block in (0, blocks // 2, blocks - 1):
                        self.flipped()
                        store = self.compare(self.folder / "s", Store)
                        assert isinstance(store, Store)
                        self.assertEqual(store.committed(), set(range(block + 1)))
                trinim(self.folder, "task finish --store s")
                self.assertGreater(self.seen["published"], blocks)
                self.seen.clear()
                self.compare(self.folder / "s", Store)
                self.assertEqual(self.seen["published"], blocks if blocks_left else 0)
                check.database(Database(self.folder / "s"))

    def test_few_pieces(self) -> None:
        """A part of a store has all positions of few pieces: the count by the definition, too."""
        for rule in ("misere", "normal"):
            small = Board(4)
            losses = losses_of(small, rule)
            pieces = [position.bit_count() for position in range(1 << small.cells)]
            right = np.bincount(np.array(pieces)[losses], minlength=small.cells + 1)
            self.assertEqual(few.by_definition(small, rule, small.cells), right.tolist())
            shutil.rmtree(self.folder / "s", ignore_errors=True)
            trinim(self.folder, f"task init --store s -k 6 --block-bits 12 --rule {rule} --keep counts")
            blocks = few.blocks(Store(self.folder / "s"), 4)
            trinim(self.folder, f"task --store s --batch {','.join(map(str, blocks[:-1]))}")
            with self.assertRaisesRegex(DatabaseError, f"no summary of block {blocks[-1]}"):
                few.in_store(Store(self.folder / "s"), 4)
            trinim(self.folder, f"task --store s --batch {blocks[-1]}")
            store = Store(self.folder / "s")
            self.assertLess(len(store.records), len(store.bids))
            self.assertEqual(few.in_store(store, 4), few.by_definition(store.board, rule, 4))
            values = dict(few.stored(store, 4, 2000))
            expected = losses_of(store.board, rule)
            self.assertEqual(values, {position: expected[position] for position in values})
            self.assertEqual(set(values.values()), {False, True})
            (store.folder / store.block_name(blocks[0])).unlink()
            with self.assertRaisesRegex(DatabaseError, "has no file of a block"):
                next(few.stored(store, 0, 1))

    def flipped(self) -> None:
        """Each byte of a summary and some of a block with another bit; another solve."""
        for name in ("summaries/000000", "db/000000.blk"):
            path = self.folder / "s" / name
            whole = path.read_bytes()
            for at in range(0, len(whole), 1 if len(whole) < 300 else 17):
                path.write_bytes(whole[:at] + bytes([whole[at] ^ 8]) + whole[at + 1 :])
                with self.assertRaises(DatabaseError, msg=f"{name} at {at}"):
                    list(Store(self.folder / "s").published())
            path.write_bytes(whole)
        path = self.folder / "s/task.json"
        task = path.read_text("utf-8")
        for one, other in (('"rule": "', '"rule": "no'), ("store/1", "store/2"), ("0,", "1,"),
                           ('"keep": "', '"keep": "book:'), ('"identity": "', '"identity": "0')):
            path.write_text(task.replace(one, other), "utf-8")
            with self.assertRaises(DatabaseError, msg=other):
                Store(self.folder / "s")
        path.write_text(task, "utf-8")


if __name__ == "__main__":
    unittest.main()
