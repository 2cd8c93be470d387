"""Stores of solves in tasks, finished or not: what is solved, summaries, files of blocks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import blake3
import xxhash

from trinim_database.database import board_text
from trinim_database.errors import Damaged, Unsupported
from trinim_database.runs import Bytes, Record, Run, number

SCHEMA = "trinim.store/1"


class Store(Run):
    """An open store in a folder. `records` are all blocks with a summary, by their number."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.records = {}
        path = self.folder / "task.json"
        raw = self._file("task.json").decode()
        try:
            task: dict[str, Any] = json.loads(raw)
            if task["schema"] != SCHEMA:
                raise Unsupported(f"{path} has another format or version: {task['schema']}")
            self.parameters = _parameters(task, raw)
            self._read_layout()
            found = task["canonical_blocks"], task["block_bytes"], task["identity"]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise Damaged(f"{path}: {error!r}") from error
        expected = len(self.bids), 8 * self.layout.words, f"{self.identity:016x}"
        if found != expected or task["offset_cells"] != list(self.layout.offset_cells):
            raise Damaged(f"{path} says {found} of what it names, expected {expected}")
        for block in range(len(self.bids)):
            if (self.folder / _summary_name(block)).is_file():
                self.records[block] = self._read_summary(block)

    def _read_summary(self, block: int) -> Record:
        data = self._file(_summary_name(block))
        what = f"{self.folder / _summary_name(block)}"
        if data[-8:] != number(xxhash.xxh3_64_intdigest(data[:-8]), 8):
            raise Damaged(f"{what}: the hash is wrong")
        fields = Bytes(data[:-8], what)
        fields.expect(b"TRINIMSM" + number(1, 4) + number(block, 4) + number(self.identity, 8))
        published = self.block_name(block), fields.number(8), fields.number(32)
        return Record(block, published, data[fields.at : -8], ())

    def committed(self) -> set[int]:
        """The blocks that are committed: by their files, or with counts by their summaries."""
        if self.keep == "counts":
            return set(self.records)
        blocks = range(len(self.bids))
        return {block for block in blocks if (self.folder / self.block_name(block)).is_file()}

    def published(self) -> Iterator[Record]:
        """The records whose block there is, after a comparison of length and BLAKE3."""
        for record in self.records.values():
            assert record.published
            name, length, digest = record.published
            if (self.folder / name).is_file():
                data = self._file(name)
                if len(data) != length or blake3.blake3(data).digest() != number(digest, 32):
                    raise Damaged(f"{self.folder / name} differs from its summary")
                yield record

    def block_name(self, block: int) -> str:
        """With counts in a folder of ten thousand blocks, otherwise in that of the database."""
        folder = below(block) if self.keep == "counts" else ""
        return f"db/{folder}{block:06}.blk"


def _summary_name(block: int) -> str:
    return f"summaries/{below(block)}{block:06}"


def below(block: int) -> str:
    """The folder of ten thousand blocks in which the files of a block are."""
    return f"{block // 10_000}/" if block >= 10_000 else ""


def _parameters(task: dict[str, Any], raw: str) -> dict[str, str]:
    """What the parameters of a run would say."""
    given = {"database": "1", "rule": task["rule"], "max-take": str(task["max_take"] or "none")}
    if "board" in task:
        given["board"] = board_text(raw)
    else:
        given["layers"] = str(task["layers"])
    for name in ("bid_cells", "offset_cells"):
        given[name.replace("_", "-")] = ",".join(map(str, task[name]))
    if task["keep"] not in ("database", "counts"):
        raise ValueError(f"keep {task['keep']}")
    if task["keep"] == "counts":
        given["keep"] = "counts"
    return given
