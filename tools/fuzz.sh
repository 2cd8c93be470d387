#!/usr/bin/env bash
# Fuzzes each target, or the given ones, for some seconds (default 60): tools/fuzz.sh [SECONDS
# [TARGET ..]]
#
# libFuzzer on the stable toolchain: LLVM flags request the coverage, so no nightly compiler is
# needed, only a C++ compiler for libFuzzer itself. The inputs of tools/fuzz/corpus, one file a
# target with one input in hexadecimal a line, are unpacked below target/fuzz/committed. New inputs
# go to target/fuzz/corpus; MERGE=1 packs those that reach something new into tools/fuzz/corpus.
# Exits with 1 if a target failed, and keeps its input in target/fuzz/found.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
seconds=${1:-60}
shift || true
if [ $# -gt 0 ]; then
    targets=("$@")
else
    mapfile -t targets < <(basename -s .hex -a tools/fuzz/corpus/*.hex)
fi
# unpack FILE FOLDER: each line becomes a file, named by its number.
unpack() {
    local line number=0
    rm -rf "$2" && mkdir -p "$2"
    while IFS= read -r line; do
        # shellcheck disable=SC2059 # The bytes are the format.
        printf "$(sed 's/../\\x&/g' <<<"$line")" >"$2/$((number += 1))"
    done <"$1"
}
# pack FOLDER FILE: sorted, so that equal inputs are one line.
pack() {
    find "$1" -type f -exec sh -c 'od -An -v -tx1 "$0" | tr -d " \n"; echo' {} \; | LC_ALL=C sort -u >"$2"
}
coverage="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters"
coverage="$coverage -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares"
# Counts the steps of each input. The counter of tools/fuzz/src/main.rs replaces the empty one of
# libFuzzer: the first definition wins.
coverage="$coverage -Cllvm-args=-sanitizer-coverage-trace-pc -Clink-arg=-Wl,-z,muldefs"
# Naming the host as target keeps the flags from the build scripts.
host=$(rustc -vV | sed -n 's/^host: //p')
RUSTFLAGS="$coverage" cargo build --release --manifest-path tools/fuzz/Cargo.toml --target "$host" --target-dir target/fuzz
binary=target/fuzz/$host/release/fuzz
mkdir -p target/fuzz/found
# One target writes files; write them in memory.
if [ -d /dev/shm ]; then
    export TMPDIR=/dev/shm
fi
failed=0
for target in "${targets[@]}"; do
    committed=target/fuzz/committed/$target found=target/fuzz/corpus/$target
    mkdir -p "$found"
    unpack "tools/fuzz/corpus/$target.hex" "$committed"
    echo "== $target: $seconds s"
    log=target/fuzz/$target.log
    if ! FUZZ_TARGET=$target nice "$binary" "$found" "$committed" -max_total_time="$seconds" -max_len=4096 -timeout=20 -rss_limit_mb=512 \
        -artifact_prefix="target/fuzz/found/$target-" -print_final_stats=1 >"$log" 2>&1; then
        echo "FAILED: $target; see $log and target/fuzz/found"
        failed=1
    fi
    grep -E 'number_of_executed_units|average_exec|new_units_added|peak_rss' "$log" | sed 's/^stat:: *//' || true
    grep -E 'cov: ' "$log" | tail -1 | sed 's/ L: .*//' || true
    if [ "${MERGE:-0}" = 1 ]; then
        FUZZ_TARGET=$target "$binary" -merge=1 -max_len=1024 "$committed" "$found" >>"$log" 2>&1
        pack "$committed" "tools/fuzz/corpus/$target.hex"
    fi
done
exit "$failed"
