#!/usr/bin/env bash
# tools/mutants.sh [PART..]: changes one function or operator of the sources after the other, and
# lists the changes that no test notices. Needs cargo-mutants (cargo install --locked
# cargo-mutants); takes ten to thirty seconds a change where nothing else runs, and all of them
# days: SHARD=0/6 takes each sixth.
#
# The parts promise durability, detect damage or say what a position is worth: run, checkpoint, log,
# engine-maintenance (the engine's, against the engine's tests), game (the boards, against their
# own), database, solve and maintenance (the library's, against its own tests and those of
# tests/library that are about them; seven layers are left out), task, bucket and serve (against
# their own). Syncs of stores are noticed by tools/simulation alone. OUT is the folder of the
# results, one for each part, by default target/mutants. A part that is there already continues:
# changes that were noticed are not made again.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=${OUT:-target/mutants}
mkdir -p "$out"
# A test program ends with its first failure; that option is not stable.
export CARGO_PROFILE_DEV_DEBUG=0 CARGO_PROFILE_DEV_OPT_LEVEL=1 CARGO_INCREMENTAL=1 RUSTC_BOOTSTRAP=1

# part NAME PACKAGE TESTS SKIPPED FILES..: TESTS are arguments of cargo test. They are given to its
# build as well (--cargo-arg), which otherwise links every test of the package after each change.
# SKIPPED are files of tests.
part() {
    local name=$1 package=$2 selected=() skipped=() one
    for one in $3; do
        selected+=("--cargo-arg=$one")
    done
    for one in $4; do
        skipped+=(--skip "$one::")
    done
    shift 4
    for one in "$@"; do
        selected+=(--file "$one")
    done
    # A change that no test notices ends with code 2, one that hangs with 3: both are results.
    local status=0
    # A hang is three times as long as the tests take without a change, on a slow or busy machine
    # too.
    nice -n 19 cargo mutants --package "$package" --jobs 1 --no-shuffle --iterate --timeout-multiplier 3 \
        --shard "${SHARD:-0/1}" --sharding round-robin --output "$out/$name" "${selected[@]}" \
        -- -- -Zunstable-options --fail-fast "${skipped[@]}" || status=$?
    [ "$status" -le 3 ] || exit "$status"
    echo "$name: noticed $(count "$name" caught), hang $(count "$name" timeout), not noticed $(count "$name" missed)"
    cat "$out/$name/mutants.out/missed.txt"
}

count() {
    wc -l <"$out/$1/mutants.out/$2.txt"
}

library="--lib --test=library"
for name in ${@:-run checkpoint log engine-maintenance game database solve task bucket maintenance serve}; do
    case $name in
    run) part run trinim-pipeline --tests "" 'pipeline/src/run/*.rs' pipeline/src/thresholds.rs ;;
    checkpoint) part checkpoint trinim-pipeline --tests "" 'pipeline/src/checkpoint/*.rs' ;;
    log)
        part log trinim-pipeline --tests "" pipeline/src/log/{entry,frame,place,reader,writer}.rs
        ;;
    engine-maintenance) part engine-maintenance trinim-pipeline --tests "" 'pipeline/src/maintenance/*.rs' ;;
    game) part game trinim-game --lib "" 'src/game/board/*.rs' ;;
    database)
        part database trinim "$library" "seven architecture nimbers parts" 'src/database/book/*.rs' \
            src/database/{block,census,first_moves,manifest,probe,reader,summary,sums}.rs
        ;;
    solve)
        part solve trinim "$library" "seven architecture check keep" src/solve/{book,parts}.rs
        ;;
    task)
        part task trinim-task "--lib --test=tasks" "bucket program reports surroundings" 'src/task/*.rs' \
            src/task/store/{folder,mod}.rs
        ;;
    bucket)
        part bucket trinim-task --test=tasks "command faults program refusals reports shares surroundings sweep whole" \
            src/task/store/bucket.rs
        ;;
    maintenance) part maintenance trinim "$library" "seven architecture parts solve boards_as_data" 'src/maintenance/**/*.rs' ;;
    serve) part serve trinim-serve --tests "" 'src/serve/*.rs' ;;
    *)
        echo "no part $name"
        exit 1
        ;;
    esac
done
