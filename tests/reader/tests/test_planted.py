"""Faults that are planted with all hashes right, each of which one check has to refuse; and sound
folders beside them, which pass."""

from __future__ import annotations

import copy
import json
import random
import shutil
import unittest
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import blake3
import numpy as np
import xxhash
import zstandard

from tests.brute import InFolder, losses_of, trinim
from tests.test_definition import listed, write_book
from trinim_database import Damaged, Database, Unsupported, check, codecs, definition
from trinim_database.board import Board
from trinim_database.errors import Contradiction
from trinim_database.layout import Layout
from trinim_database.rows import code_lengths, decode, decode_published
from trinim_database.runs import LONG_FRAME_WORDS, LONG_STREAM_WORDS, Run, hash128, number

Manifest = dict[str, Any]
Change = Callable[[Manifest], None]

# Six cells that are all alike have 720 symmetries, of which the program uses some.
ALIKE = """
name = "alike"
cells = [[0, 0], [1, 0], [2, 0], [3, 0], [4, 0], [5, 0]]
moves = [[0], [1], [2], [3], [4], [5]]
"""


def write_sums(folder: Path, names: list[str]) -> None:
    """SUMS of these files."""
    digests = {name: blake3.blake3((folder / name).read_bytes()).hexdigest() for name in names}
    (folder / "SUMS").write_text("".join(f"{digests[name]}  {name}\n" for name in names))


def add(*changes: tuple[str, int, str, int]) -> Change:
    """Adds to numbers in rows of the manifest."""
    def change(manifest: Manifest) -> None:
        for key, row, name, more in changes:
            manifest[key][row][name] += more
    return change


def put(key: str, value: object) -> Change:
    """Gives a key another value."""
    def change(manifest: Manifest) -> None:
        manifest[key] = value
    return change


def edit(key: str, change: Callable[[Any], object]) -> Change:
    """Changes a list or an object of the manifest."""
    def changed(manifest: Manifest) -> None:
        change(manifest[key])
    return changed


class InManifest(InFolder):
    """Manifests that contradict themselves, the format, or the files."""

    def solve(self, options: str) -> Database:
        shutil.rmtree(self.folder / "run", ignore_errors=True)
        (self.folder / "alike.toml").write_text(ALIKE)
        trinim(self.folder, f"solve --out run {options}")
        return Database(self.folder / "run")

    def plant(self, database: Database, change: Change) -> None:
        """Changes the manifest, and the digests with it."""
        manifest = copy.deepcopy(database.manifest)
        change(manifest)
        solution = blake3.blake3(database.digest_lines())
        for block in manifest["blocks"]:
            solution.update(bytes.fromhex(block["digest"]))
        manifest["digest"] = solution.hexdigest()
        text = json.dumps(manifest, indent=2) + "\n"
        (database.folder / "manifest.json").write_text(text)
        lines = (database.folder / "SUMS").read_text().splitlines()
        write_sums(database.folder, [line[66:] for line in lines])

    def refused(self, options: str, faults: Sequence[tuple[str, Change]]) -> None:
        """Each fault is refused with these words, and without one the database passes."""
        database = self.solve(options)
        for words, change in [("", lambda _: None), *faults]:
            with self.subTest(options=options, words=words):
                self.plant(database, change)
                if not words:
                    check.database(Database(database.folder))
                    continue
                with self.assertRaisesRegex(Damaged, words):
                    check.database(Database(database.folder))

    def test_counts_of_a_book(self) -> None:
        self.refused("--layers 5 --keep book:9 --block-bits 10", [
            ("differs from by_pieces", add(("by_pieces", 3, "losses", 1))),
            ("by_pieces has other losses than the blocks",
             add(("by_pieces", 3, "losses", 1), ("by_layers", -1, "losses", 1))),
            ("by_pieces has more losses than pos", add(("by_pieces", 3, "losses", 10**9))),
            ("by_pieces has more losses than pos", add(("by_pieces", 0, "losses", -1))),
            ("by_pieces has other positions", add(("by_pieces", 3, "pieces", -1))),
            ("by_pieces has other positions", add(("by_pieces", 3, "positions", 1))),
            ("by_pieces has other positions", edit("by_pieces", lambda rows: rows.pop())),
            ("contradict the first moves",
             add(("by_pieces", 15, "losses", -1), ("by_pieces", 3, "losses", 1))),
            ("contradict the first moves",
             add(("by_pieces", 14, "losses", 1), ("by_pieces", 3, "losses", -1))),
            ("by_layers has losses that", add(("by_layers", -1, "losses", 1))),
            ("by_layers has losses that", add(("by_layers", 3, "losses", -142))),
            ("by_layers has losses that", add(("by_layers", 0, "losses", 2))),
            ("by_layers has losses that", add(("by_layers", 0, "losses", -2))),
            ("by_layers has other rows", add(("by_layers", 0, "positions", 1))),
            ("by_layers has other rows", edit("by_layers", lambda rows: rows.pop(0))),
            ("by_layers is missing", lambda manifest: manifest.pop("by_layers")),
            ("by_pieces has other losses than the blocks", add(("blocks", 0, "losses", 1))),
            ("block 0 has -1 losses", edit("blocks", lambda rows: rows[0].update(losses=-1))),
            ("block 1 has 99999 losses", edit("blocks", lambda rows: rows[1].update(losses=99999))),
            ("not the canonical ones", add(("blocks", 1, "bid", 1))),
            ("not the canonical ones", add(("blocks", -1, "bid", 1 << 40))),
            ("not the canonical ones", edit("blocks", lambda rows: rows.reverse())),
            ("not the canonical ones", edit("blocks", lambda rows: rows.pop())),
            ("blocks are missing", edit("blocks", lambda rows: rows.clear())),
            ("by_nimber is there", put("by_nimber", [])),
            ("ValueError", put("rule", "Normal")), ("ValueError", put("keep", "book:09")),
        ])
        moves = "winning_first_moves"
        self.refused("--layers 4 --keep book:5", [
            ("not in order", edit(moves, lambda found: found.reverse())),
            ("not in order", edit(moves, lambda found: found.append([0, 9]))),
            ("a cell twice", edit(moves, lambda found: found[0].append(found[0][0]))),
            ("an image of a winning first", edit(moves, lambda found: found.pop())),
            ("contradict the first moves", put(moves, [])),
            ("winning_first_moves is missing", lambda manifest: manifest.pop(moves)),
        ])

    def test_a_book_confirms_the_counts_of_its_pieces(self) -> None:
        database = self.solve("--layers 5 --keep book:9")
        self.plant(database, add(("by_pieces", 10, "losses", 1), ("by_pieces", 3, "losses", -1)))
        check.database(Database(database.folder))
        with self.assertRaisesRegex(Contradiction, "losses of 10 pieces"):
            definition.values(Database(database.folder))

    def test_other_kinds(self) -> None:
        self.refused("--layers 4 --block-bits 7", [
            ("winning_first_moves is there", put("winning_first_moves", [[0]])),
            ("by_layers is there", put("by_layers", [])),
            ("by_pieces differs from the blocks",
             add(("by_pieces", 3, "losses", 1), ("by_pieces", 4, "losses", -1))),
        ])
        self.refused("--layers 4 --values remoteness --block-bits 7", [
            ("by_distance differs", add(("by_distance", 1, "losses", 1))),
        ])
        self.refused("--layers 4 --values nimbers --rule normal --block-bits 7", [
            ("by_nimber differs", add(("by_nimber", 1, "positions", 1))),
        ])
        self.refused("--board cram:3x3 --keep counts", [
            ("by_layers is there", put("by_layers", [])), ("layers is there", put("layers", 4)),
            ("not those of a board that is data", put("max_take", 3)),
            ("not those of a board that is data", edit("offset_cells", lambda row: row.reverse())),
            ("a cell twice", edit("board", lambda board: board["moves"][0].append(0))),
        ])
        self.refused("--board file:alike.toml --keep counts --block-bits 4", [
            ("block 2 has other positions than an image", add(("blocks", 2, "losses", 1))),
            ("not the canonical ones", edit("blocks", lambda rows: rows.pop())),
            ("not the canonical ones", edit("blocks", lambda rows: rows.reverse())),
        ])

    def test_audits(self) -> None:
        def audit(**fields: int) -> Change:
            return edit("audit", lambda one: one.update(fields))

        self.refused("--layers 4 --block-bits 8 --audit 30%", [
            ("the audit has", audit(**fields)) for fields in (
                {"seed": 1}, {"misses": 1}, {"positions": 1}, {"blocks": 0, "positions": 0},
                {"blocks": 99, "positions": 99 * 128}, {"per_block": 64, "positions": 2 * 64},
            )
        ])
        database = self.solve("--layers 4 --block-bits 8 --audit all")
        for per_block, seed, passes in (
            (128, 0, True), (100, 7, True), (10_000, 7, True), (10_001, 7, False), (-1, 0, False),
        ):
            positions = len(database.manifest["blocks"]) * min(per_block, 128)
            self.plant(database, audit(per_block=per_block, seed=seed, positions=positions))
            if passes:
                check.database(Database(database.folder))
            else:
                self.assertRaises(Damaged, check.database, Database(database.folder))

    def test_blocks_without_a_loss_are_missing(self) -> None:
        """Most blocks: their positions would all be wins."""
        database = self.solve("--layers 4 --block-bits 2")
        folder, blocks = database.folder, database.manifest["blocks"]
        lost = [ordinal for ordinal, block in enumerate(blocks) if block["losses"]]
        self.assertLess(len(lost), len(blocks) // 2)
        names = []
        for new, ordinal in enumerate(lost):
            whole = (folder / f"{ordinal:06}.blk").read_bytes()
            header = whole[:12] + number(new, 4) + whole[16:56]
            header += number(xxhash.xxh3_64_intdigest(header), 8)
            (folder / f"{new:06}.blk").write_bytes(header + whole[64:])
            names.append(f"{new:06}.blk")
        for ordinal in range(len(lost), len(blocks)):
            (folder / f"{ordinal:06}.blk").unlink()
        write_sums(folder, [*names, "manifest.json"])
        self.plant(database, put("blocks", [blocks[ordinal] for ordinal in lost]))
        for compare in (check.database, definition.values):
            with self.assertRaisesRegex(Damaged, "blocks are missing"):
                compare(Database(folder))

    def test_files_of_others_and_files_that_are_too_many(self) -> None:
        database = self.solve("--layers 4 --block-bits 7")
        folder = database.folder
        for name, is_own in (
            (".DS_Store", False), ("notes.txt", False), ("000000.blk.tmp", False),
            ("0000007.blk", False), ("000099.blk", True), ("1000000.blk", True), ("book", True),
            ("000000.part", True),
        ):
            (folder / name).write_text("x")
            with self.subTest(name=name):
                if is_own:
                    with self.assertRaisesRegex(Damaged, "other files than there are"):
                        check.database(database)
                else:
                    check.database(database)
            (folder / name).unlink()
        (folder / "folder").mkdir()
        check.database(database)
        (folder / "000099.blk").write_text("x")
        names = [line[66:] for line in (folder / "SUMS").read_text().splitlines()]
        write_sums(folder, [*names[:-1], "000099.blk", "manifest.json"])
        with self.assertRaisesRegex(Damaged, "than the manifest"):
            check.database(database)

    def test_bytes_after_a_frame_of_a_book(self) -> None:
        database = self.solve("--layers 4 --keep book:5")
        assert database.book
        numbers = listed(database.book).tolist()
        for more in (b"", b"x"):
            write_book(database.folder, numbers, more)
            planted = Database(database.folder)
            if more:
                with self.assertRaisesRegex(Damaged, "frame 0"):
                    check.database(planted)
            else:
                check.database(planted)

    def test_a_board_of_which_the_program_uses_some_symmetries(self) -> None:
        for options in ("", "--values remoteness", "--values nimbers --rule normal"):
            with self.subTest(options=options):
                database = self.solve(f"--board file:alike.toml --block-bits 4 {options}")
                check.database(database)
                self.assertEqual(definition.values(database).proved, 64)
                # Block 2 is an image of block 1: two positions with other values change places.
                blocks = database._blocks
                assert blocks
                blocks._cache[2, 0] = frame = blocks.frame(2, 0).copy()
                planes = frame.reshape(database.planes, -1)[:, 0]
                planes[:] = [int(plane) & ~3 | (int(plane) & 1) << 1 | int(plane) >> 1 & 1
                             for plane in planes]
                with self.assertRaisesRegex(Contradiction, "and an image of it have two values"):
                    definition.values(database)
                self.assertRaises(Unsupported, database.canonical_losses)
        database = self.solve("--board file:alike.toml --block-bits 4 --keep book:3")
        check.database(database)
        expected = losses_of(database.board, "misere")
        for position in range(64):
            if position.bit_count() >= 3:
                self.assertEqual(database.is_loss(position), expected[position])
        for use in (definition.values, Database.losses, Database.canonical_losses):
            with self.assertRaisesRegex(Unsupported, "more than 48 symmetries"):
                use(database)
        with self.assertRaisesRegex(Unsupported, "more than 48 symmetries"):
            Run(self.folder / "run")

    def test_a_book_of_all_positions(self) -> None:
        database = self.solve("--layers 3 --keep book:0")
        check.database(database)
        found = definition.values(database)
        self.assertEqual((found.positions, found.proved), (64, 64))


def coded(symbols: Sequence[int], alphabet: Sequence[int] = (), lengths: Sequence[int] = (),
          form: int = 0) -> bytes:
    """A list as pipeline/FORMAT.md specifies it, or with other choices."""
    if form:
        symbols = list(np.array(symbols, "<u2").tobytes())
    counts = Counter(symbols)
    alphabet = alphabet or sorted(counts)
    lengths = lengths or code_lengths(np.array([counts[one] for one in alphabet])).tolist()
    codes = {}
    code = last = 0
    for length, at in sorted(zip(lengths, range(len(lengths)), strict=True)):
        code <<= length - last
        codes[alphabet[at]] = format(code, f"0{length}b")
        code, last = code + 1, length
    out = number(form, 1) + number(len(alphabet), 2) + np.array(alphabet, "<u2").tobytes()
    halves = [*lengths, *[0] * (len(lengths) % 2)]
    out += bytes(low | high << 4 for low, high in zip(halves[::2], halves[1::2], strict=True))
    part = -(-len(symbols) // 4)
    for stream in range(4):
        bits = "".join(codes[one] for one in symbols[stream * part : (stream + 1) * part])
        stored = number(int(bits[::-1] or "0", 2), -(-len(bits) // 8))
        out += number(len(stored), 4) + stored
    return out


class InFrames(unittest.TestCase):
    """Frames that decode to words, and that no encoder writes."""

    def test_rows_huffman(self) -> None:
        draw = random.Random(6)
        # Sixteen rows, of which three are distinct.
        table = [[draw.choice((0, 0, 0, 7)) for _ in range(32)] for _ in range(3)]
        order = [0, 1, 0, 0, 2, 1, 2, 2, 0, 1, 0, 0, 2, 1, 2, 2]
        nearest = [0, 0, 2, 1, 0, 4, 2, 1, 5, 4, 2, 1, 5, 4, 2, 1]
        farther = [*nearest[:3], 3, *nearest[4:]]
        pieces = [piece for row in table for piece in row]
        words = np.array([table[row] for row in order], "<u2").reshape(-1).view("<u8")
        three, links = number(3, 4), coded(nearest)
        # Few symbols of sixteen bits, or many that have few bytes.
        many = [draw.randrange(40) << 8 | draw.randrange(40) for _ in range(64 * 32)]
        wide = list(range(1280))
        no_links = coded([0] * 64)
        odd = len(set(nearest)) * 2 + 3 + len(set(nearest)) // 2
        filled = links[:odd] + bytes([links[odd] | 16]) + links[odd + 1 :]
        block_way, last = "the way of block files", "the last equal row"
        rising = "symbols do not ascend"
        for stored, count, logs, blocks in (
            (three + links + coded(pieces), 128, "", ""),
            (number(64, 4) + no_links + coded(many, form=1), 512, "", ""),
            # Bytes of few symbols; other codes; a bit after the last length.
            (three + links + coded(pieces, form=1), 128, "", block_way),
            (three + coded(nearest, lengths=[3, 3, 2, 2, 2]) + coded(pieces), 128, "", block_way),
            (three + filled + coded(pieces), 128, "", block_way),
            (number(40, 4) + coded([0] * 40) + coded(wide, lengths=[10] * 768 + [11] * 512), 320,
             "1280 different symbols", "1280 different symbols"),
            (three + links + coded(pieces, [7, 0]), 128, rising, rising),
            (three + links + coded(pieces, [0, 7, 256], [1, 2, 2], form=1), 128, rising, rising),
            (three + links + coded(pieces, [0, 7, 9], [1, 2, 2]), 128, "not occur", "not occur"),
            (three + coded(farther) + coded(pieces), 128, last, last),
            # A distinct row twice; a code 1, where the only symbol has the code 0.
            (number(4, 4) + coded([*nearest[:3], 0, *nearest[4:]]) + coded([*pieces, *table[0]]),
             128, last, last),
            (number(1, 4) + coded([0] + [1] * 15) + number(0, 1) + number(1, 2) + number(5, 2)
             + number(1, 1) + 4 * (number(1, 4) + b"\1"), 128, "of no symbol", "of no symbol"),
        ):
            self.decoded(8, stored, count, logs, blocks)
        np.testing.assert_array_equal(decode(8, three + links + coded(pieces), 128), words)
        noise = draw.randbytes(8 * 128)
        longer = coded(np.frombuffer(noise, "<u2").tolist())
        for codec, stored, blocks in (
            (0, b"", ""), (1, noise, ""),
            (1, words.tobytes(), "the way to store it"), (1, bytes(8 * 128), "the way to store it"),
            (8, number(16, 4) + coded([0] * 16) + longer, "the way to store it"),
        ):
            self.decoded(codec, stored, 128, "", blocks)

    def decoded(self, codec: int, stored: bytes, words: int, logs: str, blocks: str) -> None:
        """Decodes a frame of a log, and of a block file; each may be refused with some words."""
        for one, refusal in ((decode, logs), (decode_published, blocks)):
            with self.subTest(codec=codec, refusal=refusal, of=one):
                if refusal:
                    with self.assertRaisesRegex(Damaged, refusal):
                        one(codec, stored, words)
                else:
                    one(codec, stored, words)

    def test_rows_bytes(self) -> None:
        rows = [bytes([row]) + bytes(63) for row in (1, 2)]
        mask = number(1, 8)
        for numbers, masks, given, expected in (
            ([0, 1, 0], 2 * mask, b"\1\2", rows[0] + rows[1] + rows[0]),
            ([1, 0, 1], 2 * mask, b"\2\1", None),  # Not in order.
            ([0, 1, 0], 2 * mask, b"\1\1", None),  # Not distinct.
            ([0, 1, 0], 2 * mask, b"\1\0", None),  # A byte that is 0.
            ([0, 0, 0], 2 * mask, b"\1\2", None),  # One that does not occur.
        ):
            stored = number(2, 4) + np.array(numbers, "<u2").tobytes() + masks + given
            with self.subTest(numbers=numbers, given=given):
                if expected is None:
                    self.assertRaises(Damaged, codecs.decode, 7, stored, 24)
                else:
                    self.assertEqual(codecs.decode(7, stored, 24).tobytes(), expected)


class InRuns(InFolder):
    """Run folders, written here byte by byte."""

    RUN_ID = bytes(range(16))
    PARAMETERS = (("layers", "2"), ("rule", "misere"), ("max-take", "none"), ("bid-cells", "0"),
                  ("offset-cells", "1,2"), ("database", "1"))

    def entry(
        self, words: int, sizes: Sequence[int], target: int = 1, payload: bytes = b""
    ) -> bytes:
        """An entry for block 1, of frames of zeros or with this payload of codec 2. Later extents
        have its hash."""
        route = number(target, 4) + bytes(4) + number(0, 8) + number(0, 8)
        head = b"TLEN" + number(1, 2) + number(0, 2) + number(0, 4) + number(len(sizes), 4)
        head += number(words, 8) + number(1, 4) + number(len(route), 4)
        head += number(xxhash.xxh3_64_intdigest(route), 8)
        place = self.RUN_ID + number(1, 4) + number(0, 4) + number(1, 8) + number(0, 8)
        own = xxhash.xxh3_64_intdigest(head, xxhash.xxh3_64_intdigest(place))
        out, hashes = head + number(own, 8) + route, number(own, 8)
        for frame, size in enumerate(sizes):
            start = b"TLFR" + number(2 if payload else 0, 4) + number(frame, 4) + number(size, 4)
            start += number(len(payload), 8) + number(xxhash.xxh3_64_intdigest(payload), 8)
            digest = number(xxhash.xxh3_64_intdigest(start, own), 8)
            out, hashes = out + start + digest + payload, hashes + digest
        self.hash = xxhash.xxh3_64_intdigest(hashes)
        return out

    def extent(self, length: int, shared: int = 0, generation: int = 1, offset: int = 0) -> bytes:
        return (number(1, 4) + number(shared, 1) + number(generation, 8) + number(offset, 8)
                + number(length, 8) + number(self.hash, 8) + number(0, 4))

    def run_of(self, *extents: bytes, parameters: Sequence[tuple[str, str]] = (),
               published: bytes = b"\0") -> Run:
        """A run with a record of block 0."""
        out = b"PLFORMAT" + number(1, 4) + number(0, 4) + self.RUN_ID
        pairs = [*self.PARAMETERS, *parameters]
        out += number(len(pairs), 4)
        for key, value in pairs:
            out += number(len(key), 2) + number(len(value), 4) + (key + value).encode()
        identity = out + hash128(out)
        records = number(1, 4) + number(0, 4) + published + number(0, 4)
        records += number(len(extents), 4) + b"".join(extents)
        out = b"PLMANIFE" + number(1, 8) + number(len(identity), 4) + number(len(records), 8)
        out += identity + records
        (self.folder / "m").mkdir(exist_ok=True)
        (self.folder / "FORMAT").write_bytes(identity)
        for name in "ab":
            (self.folder / f"m/manifest.1.{name}").write_bytes(out + hash128(out))
            (self.folder / f"m/journal.1.{name}").write_bytes(b"")
        return Run(self.folder)

    def test_records_and_parameters(self) -> None:
        self.entry(8, [8])
        one, next_one = self.extent(200), self.extent(200, offset=4096)
        published = b"\1" + number(5, 2) + b"db/.a" + bytes(24)
        self.assertEqual(len(self.run_of(one, next_one).records[0].extents), 2)
        self.run_of(one, published=published.replace(b"/.", b"/a"))
        plants: list[tuple[str, list[bytes], dict[str, Any]]] = [
            ("not 0 or 1", [self.extent(200, shared=2)], {}),
            ("not 0 or 1", [], {"published": b"\2" + published[1:]}),
            ("has a file 'db/.a'", [], {"published": published}),
            ("twice", [], {"parameters": [("layers", "2")]}),
            ("no entry can be at byte 0", [one, one], {}),
            ("no entry can be at byte 4096", [self.extent(4097), next_one], {}),
            ("no entry can be at byte 8", [self.extent(200, offset=8)], {}),
            ("no entry can be at byte 0", [self.extent(200, generation=2)], {}),
            ("no entry can be at byte 4096", [self.extent((1 << 63) - 4096, offset=4096)], {}),
        ]
        for what, extents, others in plants:
            with self.subTest(what=what), self.assertRaisesRegex(Damaged, what):
                self.run_of(*extents, **others)

    def test_frames_of_an_entry(self) -> None:
        short = LONG_FRAME_WORDS // 4
        (self.folder / "logs").mkdir()
        long, words_of_long = LONG_FRAME_WORDS, LONG_STREAM_WORDS
        zeros = zstandard.compress(bytes(64))
        noise = zstandard.compress(random.Random(7).randbytes(64))
        self.assertGreater(len(noise), 64)
        for words, sizes, target, payload, refusal in (
            (8, [8], 1, b"", ""),
            (8, [8], 1, zeros, ""),
            (words_of_long, 64 * [short], 1, b"", ""),
            (words_of_long, 16 * [long], 1, b"", ""),
            # In a stream that is too short for them; of both lengths; of another length.
            (words_of_long // 2, 8 * [long], 1, b"", "words in 8 frames"),
            (words_of_long, [short] + 15 * [long], 1, b"", "before byte 16"),
            (words_of_long, 32 * [2 * short], 1, b"", "words in 32 frames"),
            (16, [16], 1, b"", "16 words in 1 frames"),
            (8, [8], 2, b"", "the one route to block 1"),
            (8, [8], 1, noise, "longer than its words"),
        ):
            with self.subTest(words=words, refusal=refusal):
                stored = self.entry(words, sizes, target, payload)
                (self.folder / "logs/00000001.g1").write_bytes(stored)
                run = self.run_of(self.extent(len(stored)))
                if words > 16:
                    # Only this many cells have such streams.
                    cells = tuple(range((64 * words).bit_length() - 1))
                    run.layout = Layout(Board(8), (), cells)
                (extent,) = run.records[0].extents
                if refusal:
                    with self.assertRaisesRegex(Damaged, refusal):
                        run.entry(extent)
                else:
                    self.assertEqual(len(run.entry(extent).words), words)
