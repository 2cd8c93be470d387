"""Every hash, digest and count of a database, compared with its bytes."""

from __future__ import annotations

import re
from collections import Counter
from math import comb
from pathlib import Path
from typing import Any

import blake3
import numpy as np

from trinim_database.board import permute
from trinim_database.database import Database, whole
from trinim_database.errors import Damaged

OWN = re.compile(r"([0-9]{6}|[1-9][0-9]{6,})\.(blk|part)|book|manifest\.json|SUMS")
"""The names that files of a database have. Other files in its folder are none of it."""
MOST_SAMPLED = 10_000


def sums(folder: Path, expected: list[str]) -> None:
    """Compares each file with its line of `SUMS`, which has these names."""
    try:
        lines = (folder / "SUMS").read_text("ascii").splitlines(keepends=True)
    except UnicodeDecodeError as error:
        raise Damaged(f"{folder / 'SUMS'}: {error}") from error
    present = (path.name.removesuffix(".zst") for path in folder.iterdir())
    found = sorted(name for name in present if OWN.fullmatch(name))
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
    if names != expected:
        raise Damaged(f"{folder / 'SUMS'} has other names, or another order, than the manifest")


def database(one: Database) -> int:
    """Compares all that the manifest says; returns the number of files read."""
    manifest = one.manifest
    path = one.folder / "manifest.json"
    names = [f"{ordinal:06}.blk" for ordinal in range(len(manifest["blocks"]))]
    kept = names if one.keep == "database" else ["book"] if one.book else []
    sums(one.folder, [*kept, "manifest.json"])
    _compare_keys(one, path)
    by_plane = _compare_blocks(one, path)
    _compare_counts(one, path)
    if by_plane[0] != one.losses_listed():
        raise Damaged(f"{path}: by_pieces has other losses than the blocks")
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
        _compare_audit(manifest["audit"], len(manifest["blocks"]), one.layout.size, path)
    if one.book:
        one.book.check()
    return len(kept) + 2


def _compare_keys(one: Database, path: Path) -> None:
    """Keys that are there only with some boards or only if something is kept."""
    manifest = one.manifest
    triangle, all_kept = "board" not in manifest, one.keep == "database"
    for key, expected in (
        ("layers", triangle), ("winning_first_moves", not all_kept),
        ("by_layers", triangle and not all_kept),
        ("by_nimber", all_kept and one.values == "nimbers"),
        ("by_distance", all_kept and one.values == "remoteness"),
    ):
        if (key in manifest) != expected:
            raise Damaged(f"{path}: {key} is {'missing' if expected else 'there'}")
    cells = manifest["offset_cells"]
    if not triangle and (manifest["max_take"] is not None or cells != sorted(cells)):
        raise Damaged(f"{path}: max_take or offset_cells are not those of a board that is data")


def _compare_blocks(one: Database, path: Path) -> Counter[int]:
    """The blocks with their bitmaps and with the digest; the positions of each plane."""
    manifest, layout = one.manifest, one.layout
    solution = blake3.blake3(one.digest_lines())
    by_plane = Counter[int]()
    by_orbit: dict[int, list[int]] = {}
    for ordinal, (block, (orbit, images)) in enumerate(
        zip(manifest["blocks"], one.orbits(), strict=True)
    ):
        planes = [block["losses"]]
        if one.keep == "database":
            words = one.bitmap(ordinal)
            if blake3.blake3(words.astype("<u8").tobytes()).hexdigest() != block["digest"]:
                raise Damaged(f"{one.folder}: block {ordinal} has not the digest of the manifest")
            planes = [int(np.bitwise_count(x).sum()) for x in words.reshape(one.planes, -1)]
            numbered = sum(planes[one.first :])
            if planes[0] != block["losses"] or one.planes > 1 and numbered != layout.size:
                raise Damaged(f"{path}: block {ordinal} has {planes} positions")
        if not 0 <= planes[0] <= layout.size:
            raise Damaged(f"{path}: block {ordinal} has {planes[0]} losses")
        if orbit not in by_orbit:
            by_orbit[orbit] = planes
            for plane, count in enumerate(planes):
                by_plane[plane] += images * count
        elif by_orbit[orbit] != planes:
            raise Damaged(f"{path}: block {ordinal} has other positions than an image of it")
        solution.update(bytes.fromhex(block["digest"]))
    if solution.hexdigest() != manifest["digest"]:
        raise Damaged(f"{path}: the digest of the solution is wrong")
    return by_plane


def _compare_counts(one: Database, path: Path) -> None:
    """Losses by number of pieces, of smaller boards, and after a first move."""
    board, manifest = one.board, one.manifest
    rows = manifest["by_pieces"]
    losses = [row["losses"] for row in rows]
    sizes = [comb(board.cells, pieces) for pieces in range(board.cells + 1)]
    if [(row["pieces"], row["positions"]) for row in rows] != list(enumerate(sizes)):
        raise Damaged(f"{path}: by_pieces has other positions than the board")
    if not all(0 <= count <= size for count, size in zip(losses, sizes, strict=True)):
        raise Damaged(f"{path}: by_pieces has more losses than positions")
    if one.keep == "database":
        by_pieces = Counter[int]()
        for part in one.losses_by_block():
            counts = np.bincount(np.bitwise_count(part), minlength=board.cells + 1)
            by_pieces.update(dict(enumerate(counts.tolist())))
        if losses != [by_pieces[pieces] for pieces in range(board.cells + 1)]:
            raise Damaged(f"{path}: by_pieces differs from the blocks")
        return
    winning = one.winning_first_moves
    for image in board.symmetries:
        if sorted(permute(np.array(winning, np.uint64), image).tolist()) != winning:
            raise Damaged(f"{path}: an image of a winning first move does not win")
    # With what the first moves say, the fewest and the most losses.
    lost = Counter((board.full ^ taken).bit_count() for taken in winning)
    lost[board.cells] = int(not winning)
    known = Counter(position.bit_count() for position in [board.full, *board.first_moves])
    for pieces, count in enumerate(losses):
        if not lost[pieces] <= count <= lost[pieces] + sizes[pieces] - known[pieces]:
            raise Damaged(f"{path}: {count} losses of {pieces} pieces contradict the first moves")
    if board.layers:
        smaller = [row["losses"] for row in manifest["by_layers"]]
        expected = [(layers, 1 << layers * (layers + 1) // 2)
                    for layers in range(1, board.layers + 1)]
        if [(row["layers"], row["positions"]) for row in manifest["by_layers"]] != expected:
            raise Damaged(f"{path}: by_layers has other rows than the board")
        if (smaller != sorted(smaller) or smaller[0] < 0 or smaller[-1] != sum(losses)
                or any(row["losses"] > row["positions"] for row in manifest["by_layers"])):
            raise Damaged(f"{path}: by_layers has losses that cannot be, or differs from by_pieces")


def _compare_audit(audit: dict[str, Any], blocks: int, size: int, path: Path) -> None:
    """What was audited: whole blocks, or, by an earlier version, a sample of every block."""
    per_block = audit["per_block"]
    is_whole = per_block == size and audit["seed"] == 0
    is_sampled = "blocks" not in audit and 0 <= per_block <= MOST_SAMPLED
    audited = audit.get("blocks", blocks)
    positions = audited * min(per_block, size)
    if (not (is_whole or is_sampled) or not 1 <= audited <= blocks
            or (audit["positions"], audit["misses"]) != (positions, 0)):
        raise Damaged(f"{path}: the audit has {audit}")
