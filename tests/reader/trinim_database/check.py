"""Every hash, digest and count of a database, compared with its bytes."""

from __future__ import annotations

from collections import Counter
from math import comb
from pathlib import Path

import blake3
import numpy as np

from trinim_database.database import Database, whole
from trinim_database.errors import Damaged


def sums(folder: Path) -> int:
    """Compares each file with its line of `SUMS`; returns their number."""
    try:
        lines = (folder / "SUMS").read_text("ascii").splitlines(keepends=True)
    except UnicodeDecodeError as error:
        raise Damaged(f"{folder / 'SUMS'}: {error}") from error
    found = sorted(path.name.removesuffix(".zst") for path in folder.iterdir())
    names = []
    for line in lines:
        digest, name = line[:64], line[66:-1]
        path = folder / name
        names.append(name)
        if line != f"{digest}  {name}\n" or name not in found or path.is_dir():
            raise Damaged(f"{folder / 'SUMS'} has the line {line!r}")
        if blake3.blake3(whole(path)).hexdigest() != digest:
            raise Damaged(f"{path} has not the digest of SUMS")
    if sorted([*names, "SUMS"]) != found:
        raise Damaged(f"{folder / 'SUMS'} names other files than there are")
    if names[-1] != "manifest.json" or names[:-1] != sorted(names[:-1], key=lambda x: (len(x), x)):
        raise Damaged(f"{folder / 'SUMS'} has another order")
    return len(names)


def database(one: Database) -> int:
    """Compares all that the manifest says; returns the number of files read."""
    files = sums(one.folder)
    manifest, layout, cells = one.manifest, one.layout, one.board.cells
    path = one.folder / "manifest.json"
    solution = blake3.blake3(one.digest_lines())
    by_pieces = Counter[int]()
    by_plane = Counter[int]()
    for ordinal, block in enumerate(manifest["blocks"]):
        if one.keep == "database":
            words = one.bitmap(ordinal)
            if blake3.blake3(words.astype("<u8").tobytes()).hexdigest() != block["digest"]:
                raise Damaged(f"{one.folder}: block {ordinal} has not the digest of the manifest")
            times = len(layout.leading(block["bid"]))
            planes = [int(np.bitwise_count(x).sum()) for x in words.reshape(one.planes, -1)]
            numbered = sum(planes[one.first :])
            if planes[0] != block["losses"] or one.planes > 1 and numbered != layout.size:
                raise Damaged(f"{path}: block {ordinal} has {planes} positions")
            for plane, count in enumerate(planes):
                by_plane[plane] += times * count
        solution.update(bytes.fromhex(block["digest"]))
    if solution.hexdigest() != manifest["digest"]:
        raise Damaged(f"{path}: the digest of the solution is wrong")
    if one.keep == "database":
        for part in one.losses_by_block():
            counts = np.bincount(np.bitwise_count(part), minlength=cells + 1)
            by_pieces.update(dict(enumerate(counts.tolist())))
        listed = {row["pieces"]: row["losses"] for row in manifest["by_pieces"]}
        if listed != {pieces: by_pieces[pieces] for pieces in range(cells + 1)}:
            raise Damaged(f"{path}: by_pieces differs from the blocks")
    if [row["positions"] for row in manifest["by_pieces"]] != [
        comb(cells, pieces) for pieces in range(cells + 1)
    ]:
        raise Damaged(f"{path}: by_pieces has other positions than the board")
    if one.values == "nimbers":
        rows = [(row["nimber"], row["positions"], 0) for row in manifest["by_nimber"]]
        if rows != [(nimber, by_plane[nimber], 0) for nimber in range(max(+by_plane) + 1)]:
            raise Damaged(f"{path}: by_nimber differs from the blocks")
    if one.values == "remoteness":
        rows = [(row["distance"], row["wins"], row["losses"]) for row in manifest["by_distance"]]
        found = [by_plane[1 + distance] for distance in range(max(+by_plane))]
        # The moves alternate, and so do winners.
        lost = 0 if one.rule == "normal" else 1
        if rows != [(distance, 0, count) if distance % 2 == lost else (distance, count, 0)
                    for distance, count in enumerate(found)]:
            raise Damaged(f"{path}: by_distance differs from the blocks")
    if "audit" in manifest:
        audit = manifest["audit"]
        blocks = audit.get("blocks", len(manifest["blocks"]))
        of_a_block = min(audit["per_block"], layout.size)
        if "blocks" in audit and (of_a_block < layout.size or not 1 <= blocks <= len(manifest["blocks"])):
            raise Damaged(f"{path}: the audit has {audit}")
        if audit["positions"] != of_a_block * blocks or audit["misses"] != 0:
            raise Damaged(f"{path}: the audit has {audit}")
    if one.book:
        one.book.check()
    return files + 1
