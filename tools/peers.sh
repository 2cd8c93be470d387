#!/usr/bin/env bash
# Ours against the papers' ways and the loop that takes one position at a time, in turn, on this machine: see tools/peers.md.
#
# bash tools/peers.sh [OPTION OF trinim bench ..], for example --repeats 5 --out /mnt/disk --record benches/record
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cargo build --locked --release --package trinim
exec target/release/trinim bench --suite peers "$@"
