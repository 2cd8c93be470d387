"""Positions of few pieces: a part of a store of tasks against the definition of the game.

The blocks with at most P pieces on BID cells have all positions of at most P pieces, so their
summaries give the losses by number of pieces although the rest of the store is not computed.

    python -m trinim_database.few STORE P --blocks    their numbers, a line each, for trinim-task
    python -m trinim_database.few STORE P             their losses beside those by the definition
    python -m trinim_database.few STORE P --positions N
        N random positions of at most 24 pieces from those of their files that are there, a line
        each with its value, as `trinim probe --brief` prints those that it solves itself
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from math import comb
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trinim_database.blocks import Blocks
from trinim_database.board import Board, Masks, permute
from trinim_database.errors import DatabaseError
from trinim_database.stores import Store


SOLVED = 24
"""Pieces of a position that is solved in a moment, without a database."""


def by_definition(board: Board, rule: str, pieces: int) -> list[int]:
    """Losses by number of pieces, up to `pieces`: every move is tried in every position.

    Takes 8 bytes for each position of one piece less, and for each loss.
    """
    # Whoever takes the last piece loses: the empty position is a win.
    losses: list[Masks] = [np.zeros(int(rule == "normal"), np.uint64)]
    fewer = np.zeros(1, np.uint64)
    for count in range(1, pieces + 1):
        # By the highest piece: those of one piece less below it come first in ascending order.
        parts = [
            np.uint64(1 << highest) | fewer[: comb(highest, count - 1)]
            for highest in range(count - 1, board.cells)
        ]
        losses.append(np.concatenate([part[~wins(board, part, losses)] for part in parts]))
        if count < pieces:
            fewer = np.concatenate(parts)
    return [len(some) for some in losses]


def wins(board: Board, positions: Masks, losses: list[Masks]) -> NDArray[np.bool_]:
    """Which of these positions of as many pieces have a move to a loss of fewer."""
    found = np.zeros(len(positions), np.bool_)
    for taken in board.moves:
        if taken.bit_count() <= len(losses):
            mask = np.uint64(taken)
            at = np.flatnonzero(~found & (positions & mask == mask))
            children, right = positions[at] ^ mask, losses[len(losses) - taken.bit_count()]
            places = np.searchsorted(right, children)
            places[places == len(right)] = 0
            if len(right):
                found[at] = right[places] == children
    return found


def blocks(store: Store, pieces: int) -> list[int]:
    """The canonical blocks with at most so many pieces on BID cells, sources before targets."""
    return [block for block, bid in enumerate(store.bids) if bid.bit_count() <= pieces]


def in_store(store: Store, pieces: int) -> list[int]:
    """Losses by number of pieces, up to `pieces`, of a store that has the blocks for it."""
    losses = [0] * (pieces + 1)
    for block in blocks(store, pieces):
        if block not in store.records:
            raise DatabaseError(f"{store.folder} has no summary of block {block}")
        bid = store.bids[block]
        images = len(store.layout.leading(bid))
        for more, count in enumerate(store.summary(block).losses[: pieces + 1 - bid.bit_count()]):
            losses[bid.bit_count() + more] += images * count
    return losses


def stored(store: Store, pieces: int, number: int) -> Iterator[tuple[int, bool]]:
    """Random positions of at most 24 pieces, and whether each is a loss by the file of its block.

    What is read is a canonical block; the position is a random image of what was read. With the
    same files, the same positions.
    """
    chance = random.Random(number)
    paths = {block: store.folder / store.block_name(block) for block in blocks(store, pieces)}
    there = [block for block, path in paths.items() if path.is_file()]
    if not there:
        raise DatabaseError(f"{store.folder} has no file of a block with at most {pieces} pieces")
    cells = store.layout.offset_cells
    folders: dict[Path, Blocks] = {}
    for block in sorted(chance.choices(there, k=number)):
        bid = store.bids[block]
        most = min(SOLVED - bid.bit_count(), len(cells))
        offset = sum(1 << bit for bit in chance.sample(range(len(cells)), chance.randint(0, most)))
        folder = paths[block].parent
        if folder not in folders:
            folders[folder] = Blocks(folder, store.identity, store.layout.words)
        position = store.layout.positions(bid, np.array([offset], np.uint64))
        image = chance.choice(store.layout.symmetries)
        yield int(permute(position, image)[0]), folders[folder].bit(block, offset)


def main(arguments: list[str]) -> int:
    """Prints what the page of this module says; 1 if a count differs."""
    store, pieces = Store(arguments[0]), int(arguments[1])
    if arguments[2:] == ["--blocks"]:
        print("\n".join(map(str, blocks(store, pieces))))
        return 0
    if arguments[2:3] == ["--positions"]:
        for position, is_loss in stored(store, pieces, int(arguments[3])):
            print(f"{store.board.rows(position)}  {'loss' if is_loss else 'win'}")
        return 0
    counts = zip(in_store(store, pieces), by_definition(store.board, store.rule, pieces), strict=True)
    differ = 0
    for count, (found, right) in enumerate(counts):
        differ += found != right
        print(f"{count} pieces: {found:,} losses, {right:,} by the definition")
    return int(differ > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
