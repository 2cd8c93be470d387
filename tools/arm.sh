#!/usr/bin/env bash
# Builds the program for 64-bit Arm, runs the tests of the kernel, the games and the engine in
# emulation, then solves and verifies up to seven layers there and compares the digests with those
# of a program built for this machine.
#
#   tools/arm.sh [FOLDER]
#
# Needs the target's standard library (rustup target add aarch64-unknown-linux-gnu), a cross
# compiler and qemu-user: on Debian, gcc-aarch64-linux-gnu, libc6-dev-arm64-cross and qemu-user.
# What it compiles goes below FOLDER, by default target/arm. CARGO names another cargo. Records:
# tools/record/*-arm.md.
set -euo pipefail
exec </dev/null
cd "$(dirname "${BASH_SOURCE[0]}")/.."
target=aarch64-unknown-linux-gnu
folder=${1:-target/arm}
cargo=${CARGO:-cargo}
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=${CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER:-aarch64-linux-gnu-gcc}
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER=${CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER:-qemu-aarch64 -L /usr/aarch64-linux-gnu}
read -ra emulator <<<"$CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER"
for program in "$CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER" "${emulator[0]}"; do
    command -v "$program" >/dev/null || { echo "$program is not installed" >&2; exit 2; }
done

# Warnings are errors: there is no code that this target does not use.
RUSTFLAGS="-D warnings" "$cargo" build --locked --release --target "$target" --target-dir "$folder" --bin trinim
RUSTFLAGS="-D warnings" "$cargo" test --locked --release --target "$target" --target-dir "$folder" \
    -p trinim-kernel -p trinim-game -p trinim-pipeline
"$cargo" build --locked --release --target-dir "$folder" --bin trinim

scratch=$(mktemp -d "$folder/solves.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
# solved NAME COMMAND ..: solves every case with this program; prints the digests.
solved() {
    local name=$1 layers rule out
    shift
    for layers in 1 2 3 4 5 6 7; do
        for rule in misere normal; do
            out="$scratch/$name-$layers-$rule"
            "$@" solve --layers "$layers" --rule "$rule" --out "$out" --json |
                sed -n "s/^ *\"digest\": \"\(.*\)\",*$/$layers layers, $rule: \1/p"
            "$@" verify "$out" >"$out.verified"
        done
    done
}
solved here "$folder/release/trinim" >"$scratch/here"
solved arm "${emulator[@]}" "$folder/$target/release/trinim" >"$scratch/arm"
[ "$(wc -l <"$scratch/arm")" -eq 14 ]
diff "$scratch/here" "$scratch/arm"
cat "$scratch/arm"
echo "64-bit Arm: 14 solves verified, with the digests of $(uname -m)."
