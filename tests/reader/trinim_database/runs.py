"""Run folders, finished or not: parameters, manifest, journal, logs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import xxhash

from trinim_database import codecs
from trinim_database.blocks import Words
from trinim_database.board import Board, DataBoard
from trinim_database.errors import Damaged, DatabaseError, Unsupported
from trinim_database.layout import PLANES, Layout, game_lines, layout_lines, text

FRAME_WORDS = 1 << 17
LONG_FRAME_WORDS, LONG_STREAM_WORDS = 1 << 19, 1 << 23
"""Words of a frame that streams of so many words and more can have, too."""
LONGEST_ROUTES = 64 << 20
PUBLISHED = re.compile(r"db/[A-Za-z0-9_-][A-Za-z0-9._-]*")
STEP = 4096


@dataclass(frozen=True)
class Extent:
    """An entry of a log, as a record names it."""

    bucket: int
    shared: bool
    generation: int
    offset: int
    length: int
    hash: int
    source: int


@dataclass(frozen=True)
class Record:
    """A committed block: its published file, its summary, the entries that it wrote."""

    block: int
    published: tuple[str, int, int] | None
    """Name, length, XXH3-128."""
    summary: bytes
    extents: tuple[Extent, ...]


@dataclass(frozen=True)
class Summary:
    """What a record says of the values of its block."""

    digest: str
    losses: tuple[int, ...]
    """By number of pieces on offset cells."""
    smaller: tuple[int, ...]
    """Of smaller boards, from one layer; those of three symmetric images added up."""
    planes: tuple[int, ...]
    """Positions by plane, with nimbers or distances."""
    first_moves: tuple[bool, ...]
    """Whether the positions after a first move that lie in the block are losses, by offset."""


@dataclass(frozen=True)
class Route:
    """What a target needs of an entry."""

    target: int
    orientation: int
    restriction: int
    operations: tuple[int, ...]


@dataclass(frozen=True)
class Entry:
    """The stream of a source block, and who reads it."""

    source: int
    routes: tuple[Route, ...]
    words: Words


class Bytes:
    """Fields from front to back; a field beyond the end is damage."""

    def __init__(self, data: bytes, what: str) -> None:
        self.data = data
        self.what = what
        self.at = 0

    def take(self, length: int) -> bytes:
        """The next bytes."""
        taken = self.data[self.at : self.at + length]
        if len(taken) != length:
            raise Damaged(f"{self.what} ends early, at byte {len(self.data)}")
        self.at += length
        return taken

    def number(self, length: int) -> int:
        """The next number of so many bytes."""
        return int.from_bytes(self.take(length), "little")

    def flag(self) -> bool:
        """The next byte, 0 or 1."""
        found = self.number(1)
        if found > 1:
            raise Damaged(f"{self.what} has {found} before byte {self.at}, not 0 or 1")
        return found == 1

    def expect(self, expected: bytes) -> None:
        """Raises `Damaged` unless the next bytes are these."""
        found = self.take(len(expected))
        if found != expected:
            raise Damaged(f"{self.what} has {found!r} before byte {self.at}, not {expected!r}")

    def end(self) -> None:
        """Raises `Damaged` if there are more bytes."""
        if self.at != len(self.data):
            raise Damaged(f"{self.what} goes on after its end")


def number(value: int, length: int) -> bytes:
    """A number as bytes."""
    return value.to_bytes(length, "little")


def hash128(data: bytes) -> bytes:
    """The hash of the engine's page."""
    return number(xxhash.xxh3_128_intdigest(data), 16)


class Run:
    """An open run folder. `records` are all blocks that are committed, by their number."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.parameters: dict[str, str] = {}
        self.records: dict[int, Record] = {}
        self.damaged_copies: list[str] = []
        """Copies in `m/` that differ from the ones that were read, or lack the last commit."""
        identity = self._file("FORMAT")
        self._read_format(identity)
        generations = [
            int(path.name.split(".")[1]) for path in self.folder.glob("m/manifest.*.[ab]")
        ]
        if not generations:
            raise DatabaseError(f"{self.folder} has no manifest")
        self.generation = max(generations)
        last = self._read_manifest(identity)
        self._read_journal(last)
        self._compare_extents()
        self._read_layout()

    def _file(self, name: str) -> bytes:
        path = self.folder / name
        if not path.is_file():
            raise DatabaseError(f"{path} is missing")
        return path.read_bytes()

    def _read_format(self, data: bytes) -> None:
        what = f"{self.folder / 'FORMAT'}"
        if data[-16:] != hash128(data[:-16]):
            raise Damaged(f"{what}: the hash is wrong")
        fields = Bytes(data[:-16], what)
        fields.expect(b"PLFORMAT" + number(1, 4) + number(0, 4))
        self.run_id = fields.take(16)
        for _ in range(fields.number(4)):
            lengths = fields.number(2), fields.number(4)
            name, value = (fields.take(length).decode() for length in lengths)
            if name in self.parameters:
                raise Damaged(f"{what} has the parameter {name} twice")
            self.parameters[name] = value
        fields.end()

    def _copies(self, kind: str) -> list[bytes]:
        return [self._file(f"m/{kind}.{self.generation}.{copy}") for copy in "ab"]

    def _read_manifest(self, identity: bytes) -> bytes:
        """Reads the manifest; returns its hash."""
        what = f"{self.folder}: manifest {self.generation}"
        copies = self._copies("manifest")
        whole = [data for data in copies if data[-16:] == hash128(data[:-16])]
        if not whole:
            raise Damaged(f"{what}: no copy is whole")
        self._note(copies, whole[0], "manifest")
        fields = Bytes(whole[0][:-16], what)
        fields.expect(b"PLMANIFE" + number(self.generation, 8))
        lengths = fields.number(4), fields.number(8)
        fields.expect(identity)
        if len(identity) != lengths[0]:
            raise Damaged(f"{what}: the identity has another length")
        self._read_records(fields.take(lengths[1]), what)
        fields.end()
        return whole[0][-16:]

    def _note(self, copies: list[bytes], right: bytes, kind: str) -> None:
        self.damaged_copies += [
            f"m/{kind}.{self.generation}.{name}"
            for name, data in zip("ab", copies, strict=True) if data != right
        ]

    def _read_journal(self, last: bytes) -> None:
        """Reads the journal, whose first record names the hash of the manifest."""
        what = f"{self.folder}: journal {self.generation}"
        copies = self._copies("journal")
        right = b""
        sequence = 0
        while True:
            head = b"PLJOURNL" + number(self.generation, 8) + number(sequence, 8) + last
            whole = [found for data in copies if (found := _record(data[len(right) :], head))]
            if not whole:
                break
            end = 44 + int.from_bytes(whole[0][40:44], "little")
            self._read_records(whole[0][44:end], what)
            last = whole[0][end : end + 16]
            right += whole[0]
            sequence += 1
        first, second = copies
        if len(second) > len(right):
            raise Damaged(f"{what} ends at byte {len(right)}, before its copies")
        # A commit that a kill cut off leaves bytes behind copy a, or copy b without the last.
        for at in range(len(right), len(first), STEP):
            begun = first[at : at + 44]
            if begun[:16] == b"PLJOURNL" + number(self.generation, 8) and (
                int.from_bytes(begun[16:24], "little") > sequence
                and _record(first[at:], begun[:40])
            ):
                raise Damaged(f"{what} ends at byte {len(right)}, before a whole record")
        self._note([first[: len(right)], second], right, "journal")

    def _read_records(self, data: bytes, what: str) -> None:
        fields = Bytes(data, what)
        for _ in range(fields.number(4)):
            block = fields.number(4)
            published = None
            if fields.flag():
                name = fields.take(fields.number(2)).decode()
                if not PUBLISHED.fullmatch(name):
                    raise Damaged(f"{what}: block {block} has a file {name!r}")
                published = name, fields.number(8), fields.number(16)
            summary = fields.take(fields.number(4))
            extents = tuple(_extent(fields) for _ in range(fields.number(4)))
            if block in self.records or any(extent.source != block for extent in extents):
                raise Damaged(f"{what}: block {block} stands twice, or has another's extents")
            self.records[block] = Record(block, published, summary, extents)
        fields.end()

    def _compare_extents(self) -> None:
        """Raises `Damaged` if entries share bytes, or are where a log has none."""
        ends: dict[Path, int] = {}
        extents = [extent for record in self.records.values() for extent in record.extents]
        for extent in sorted(extents, key=lambda extent: extent.offset):
            path = self.log(extent)
            if (extent.generation > self.generation or extent.offset % STEP
                    or extent.offset < ends.get(path, 0)
                    or extent.offset + extent.length >= 1 << 63):
                raise Damaged(f"{path}: no entry can be at byte {extent.offset}")
            ends[path] = extent.offset + extent.length

    def _read_layout(self) -> None:
        """The board and its layout, from the parameters."""
        given = self.parameters
        if given.get("database") != "1":
            raise Unsupported(f"{self.folder} has another version of its database")
        raw = given.get("board")
        self.rule = given["rule"]
        layers = int(given.get("layers", "0"))
        take = given.get("max-take", "none")
        most = None if take == "none" else int(take)
        self.board: Board = DataBoard.read(json.loads(raw)) if raw else Board(layers, most)
        bid_cells, offset_cells = (
            tuple(int(cell) for cell in given[name].split(",") if cell)
            for name in ("bid-cells", "offset-cells")
        )
        self.values = given.get("values", "outcomes")
        self.planes = 1
        if self.values in PLANES:
            self.planes = self.board.cells + PLANES[self.values]
        self.keep = given.get("keep", "database")
        self.layout = Layout(self.board, bid_cells, offset_cells)
        self.board.need_whole_group()
        self.bids = self.layout.canonical_bids()
        game = game_lines(layers, raw, self.rule, most)
        self.game = xxhash.xxh3_64_intdigest(text(game))
        lines = layout_lines(bid_cells, offset_cells, self.values)
        self.identity = xxhash.xxh3_64_intdigest(text(game + lines))

    def first_moves(self, block: int) -> list[int]:
        """The offsets in a block of the positions after a first move, ascending."""
        return [offset for bid, offset in self._first_places if bid == self.bids[block]]

    @cached_property
    def _first_places(self) -> list[tuple[int, int]]:
        return sorted({self.layout.places(position)[0] for position in self.board.first_moves})

    def summary(self, block: int) -> Summary:
        """The summary of a committed block."""
        fields = Bytes(self.records[block].summary, f"{self.folder}: summary of block {block}")

        def numbers(count: int) -> tuple[int, ...]:
            return tuple(fields.number(8) for _ in range(count))

        kept = "keep" in self.parameters
        digest = fields.take(32).hex()
        losses = numbers(len(self.layout.offset_cells) + 1)
        smaller = numbers(self.board.layers - 1 if kept and self.board.layers else 0)
        planes = numbers(self.planes if self.values in PLANES else 0)
        count = len(self.first_moves(block)) if kept else 0
        bits = sum(word << 64 * at for at, word in enumerate(numbers(-(-count // 64))))
        fields.end()
        if bits >> count:
            raise Damaged(f"{fields.what} has bits beyond its end")
        first_moves = tuple(bits >> at & 1 == 1 for at in range(count))
        return Summary(digest, losses, smaller, planes, first_moves)

    def published(self) -> Iterator[Record]:
        """The records whose published file there is, after a comparison of length and hash."""
        for record in self.records.values():
            if record.published:
                name, length, digest = record.published
                data = self._file(name)
                if len(data) != length or xxhash.xxh3_128_intdigest(data) != digest:
                    raise Damaged(f"{self.folder / name} differs from its record")
                yield record

    def log(self, extent: Extent) -> Path:
        """The file of an entry."""
        name = f"{'s' if extent.shared else ''}{extent.bucket:08x}.g{extent.generation}"
        return self.folder / "logs" / name

    def entry(self, extent: Extent) -> Entry:
        """Reads an entry and compares all its hashes."""
        path = self.log(extent)
        what = f"{path} at byte {extent.offset}"
        with path.open("rb") as file:
            file.seek(extent.offset)
            fields = Bytes(file.read(extent.length), what)
        head = fields.take(40)
        shared = int(extent.shared)
        place = self.run_id + number(extent.bucket, 4) + number(shared, 4)
        place += number(extent.generation, 8) + number(extent.offset, 8)
        seed = xxhash.xxh3_64_intdigest(place)
        own = xxhash.xxh3_64_intdigest(head, seed)
        fields.expect(number(own, 8))
        header = Bytes(head, what)
        header.expect(b"TLEN" + number(1, 2) + number(shared, 2) + number(extent.source, 4))
        frames, words, routes = header.number(4), header.number(8), header.number(4)
        raw = fields.take(header.number(4))
        if xxhash.xxh3_64_intdigest(raw) != header.number(8) or len(raw) > LONGEST_ROUTES:
            raise Damaged(f"{what}: the hash of the routes is wrong, or their length")
        frame_words = FRAME_WORDS
        if words >= LONG_STREAM_WORDS and frames == -(-words // LONG_FRAME_WORDS):
            frame_words = LONG_FRAME_WORDS
        if frames != -(-words // frame_words) or words != self.layout.words * self.planes:
            raise Damaged(f"{what} has {words} words in {frames} frames")
        parts = []
        hashes = number(own, 8)
        for frame in range(frames):
            start = fields.take(32)
            digest = fields.take(8)
            fixed = Bytes(start, what)
            fixed.expect(b"TLFR")
            codec = fixed.number(4)
            size = min(frame_words, words - frame * frame_words)
            fixed.expect(number(frame, 4) + number(size, 4))
            payload = fields.take(fixed.number(8))
            if len(payload) > 8 * size:
                raise Damaged(f"{what}: frame {frame} is longer than its words")
            if (xxhash.xxh3_64_intdigest(payload) != fixed.number(8)
                    or xxhash.xxh3_64_intdigest(start, own) != int.from_bytes(digest, "little")):
                raise Damaged(f"{what}: a hash of frame {frame} is wrong")
            hashes += digest
            parts.append(codecs.decode(codec, payload, size))
        fields.end()
        if xxhash.xxh3_64_intdigest(hashes) != extent.hash:
            raise Damaged(f"{what}: the hash of the extent is wrong")
        read = _routes(raw, routes, what)
        if not extent.shared and [route.target for route in read] != [extent.bucket]:
            raise Damaged(f"{what} has not the one route to block {extent.bucket}")
        return Entry(extent.source, read, np.concatenate(parts))


def _record(data: bytes, head: bytes) -> bytes | None:
    """The record of a journal at the front of some bytes, if it is whole, with its zeros."""
    end = 44 + int.from_bytes(data[40:44], "little")
    padded = -(-(end + 16) // STEP) * STEP
    if data[:40] != head or len(data) < padded or data[end : end + 16] != hash128(data[:end]):
        return None
    return None if data[end + 16 : padded].strip(b"\0") else data[:padded]


def _extent(fields: Bytes) -> Extent:
    bucket, shared = fields.number(4), fields.flag()
    generation, offset, length = fields.number(8), fields.number(8), fields.number(8)
    return Extent(bucket, shared, generation, offset, length, fields.number(8), fields.number(4))


def _routes(data: bytes, count: int, what: str) -> tuple[Route, ...]:
    fields = Bytes(data, what)
    found = []
    for _ in range(count):
        target, orientation = fields.number(4), fields.number(1)
        fields.expect(bytes(3))
        restriction = fields.number(8)
        operations = tuple(fields.number(8) for _ in range(fields.number(8)))
        found.append(Route(target, orientation, restriction, operations))
    fields.end()
    return tuple(found)
