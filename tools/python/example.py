"""Figure 13 of [SWLK12], losses among all positions by layers, drawn again; and a data frame.

python tools/python/example.py FOLDER    # pip install matplotlib polars; about five seconds

Writes figure-13.png and by-pieces.parquet into FOLDER.
"""

import sys
from pathlib import Path
from typing import Literal

import matplotlib
import polars as pl
import trinim

matplotlib.use("Agg")
from matplotlib import pyplot as plt  # noqa: E402

RULES: tuple[Literal["misere"], Literal["normal"]] = ("misere", "normal")
folder = Path(sys.argv[1])

# %% Up to seven layers are solved here; eight take seconds more, nine are built in.
frames = []
for rule in RULES:
    for layers in range(1, 8):
        run = folder / f"k{layers}-{rule}"
        stats = trinim.solve(trinim.Board(layers), run, rule=rule).stats()
        frame = pl.DataFrame(stats["by_pieces"])
        frames.append(frame.with_columns(rule=pl.lit(rule), layers=layers))
    stats = trinim.Database.built_in(9, rule).stats()
    frames.append(pl.DataFrame(stats["by_pieces"]).with_columns(rule=pl.lit(rule), layers=9))
by_pieces = pl.concat(frames)
by_pieces.write_parquet(folder / "by-pieces.parquet")

# %% The share of losses of each board.
boards = by_pieces.group_by("rule", "layers").agg(pl.col("positions", "losses").sum())
boards = boards.with_columns(share=pl.col("losses") / pl.col("positions")).sort("rule", "layers")
print(boards)

# %% The figure.
figure, axes = plt.subplots(figsize=(6, 4))
for rule in RULES:
    of_rule = boards.filter(pl.col("rule") == rule)
    axes.plot(of_rule["layers"], 100 * of_rule["share"], marker="o", label=rule)
axes.set(xlabel="layers", ylabel="losses among all positions, %", ylim=(0, None))
axes.legend()
figure.savefig(folder / "figure-13.png", dpi=150)
