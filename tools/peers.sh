#!/usr/bin/env bash
# Measures trinim, the papers' strategies and the loop over single positions, in turn: see
# tools/peers.md.
#
# bash tools/peers.sh [OPTION OF trinim papers bench ..], for example --repeats 5 --out /mnt/disk
# --csv peers.csv
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cargo build --locked --release --package trinim --package trinim-papers
exec target/release/trinim papers bench --suite peers "$@"
