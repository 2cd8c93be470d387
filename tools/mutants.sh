#!/usr/bin/env bash
# tools/mutants.sh [PART..]: changes one function or operator of the sources after the other, and lists the changes that
# no test notices. Needs cargo-mutants (cargo install --locked cargo-mutants); takes ten to thirty seconds a change.
#
# The parts promise durability or detect damage: run, checkpoint, log, care (the engine's, against the engine's tests),
# upkeep and database (the library's, against the tests that damage databases and folders). OUT is the folder of the
# results, one for each part, by default target/mutants. A part that is there already continues: changes that were
# noticed are not made again.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=${OUT:-target/mutants}
mkdir -p "$out"
export CARGO_PROFILE_DEV_DEBUG=0 CARGO_INCREMENTAL=1

# part NAME PACKAGE TESTS FILES..: TESTS are arguments of cargo test. They are given to its build as well (--cargo-arg),
# which otherwise links every test of the package after each change.
part() {
    local name=$1 package=$2 selected=() file one
    for one in $3; do
        selected+=("--cargo-arg=$one")
    done
    shift 3
    for file in "$@"; do
        selected+=(--file "$file")
    done
    # A change that no test notices ends with code 2, one that hangs with 3: both are results.
    local status=0
    # A hang is three times as long as the tests take without a change, on a slow or busy machine too.
    nice -n 19 cargo mutants --package "$package" --jobs 1 --no-shuffle --iterate --timeout-multiplier 3 \
        --output "$out/$name" "${selected[@]}" || status=$?
    [ "$status" -le 3 ] || exit "$status"
    echo "$name: noticed $(count "$name" caught), hang $(count "$name" timeout), not noticed $(count "$name" missed)"
    cat "$out/$name/mutants.out/missed.txt"
}

count() {
    wc -l <"$out/$1/mutants.out/$2.txt"
}

for name in "${@:-run checkpoint log care upkeep database}"; do
    for one in $name; do
        case $one in
        run) part run trinim-pipeline --tests 'pipeline/src/run/*.rs' pipeline/src/thresholds.rs ;;
        checkpoint) part checkpoint trinim-pipeline --tests 'pipeline/src/checkpoint/*.rs' ;;
        log)
            part log trinim-pipeline --tests pipeline/src/log/{entry,frame,place,reader,writer}.rs
            ;;
        care) part care trinim-pipeline --tests 'pipeline/src/care/*.rs' ;;
        upkeep) part upkeep trinim '--test=check --test=repair --test=damage --test=folders' 'src/care/*.rs' ;;
        database)
            part database trinim '--lib --test=damage --test=format --test=check' \
                src/database/{block,census,manifest,reader,summary,sums}.rs
            ;;
        *)
            echo "no part $one"
            exit 1
            ;;
        esac
    done
done
