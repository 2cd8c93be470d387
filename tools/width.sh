#!/usr/bin/env bash
# Says how wide the house is: lines of Rust and declared options, with the difference to an earlier
# commit, and the commands and flags of a built program. Information, not a gate.
#
#   tools/width.sh [PROGRAM [COMMIT]]
#
# COMMIT is by default the last one on main before this one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
program=${1:-target/release/trinim}
before=${2:-$(git merge-base HEAD origin/main 2>/dev/null || true)}
if [ -z "$before" ] || [ "$before" = "$(git rev-parse HEAD)" ]; then
    before=$(git rev-parse --verify --quiet HEAD^) || before=$(git rev-parse HEAD)
fi

# lines COMMIT PATH ..: lines of Rust below these paths.
lines() {
    local commit=$1
    shift
    git grep -h -c '' "$commit" -- "$@" | awk '{ sum += $1 } END { print sum + 0 }'
}

# options COMMIT: declared options, whatever number of commands takes each.
options() {
    git grep -h -o -E '#\[arg\([^]]*\blong\b' "$1" -- 'src/*.rs' | wc -l
}

# row NAME NOW BEFORE
row() {
    printf '%-42s %8d  %+d\n' "$1" "$2" "$(($2 - $3))"
}

solver=('src/*.rs' 'pipeline/src/*.rs' ':!src/papers' ':!src/serve' ':!src/plane' ':!src/evolve' ':!src/commands/plane' ':!src/commands/evolve')
others=('src/papers/*.rs' 'src/plane/*.rs' 'src/evolve/*.rs' 'src/commands/plane/*.rs' 'src/commands/evolve/*.rs' tests/papers/plane.rs tests/papers/evolve.rs)
serve=('src/serve/*.rs' 'src/commands/serve/*.rs')
tests=('tests/*.rs' 'pipeline/tests/*.rs' 'tools/*.rs' 'benches/*.rs')
printf '%-42s %8s  since %s\n' "" now "$(git rev-parse --short "$before")"
row "the solver's program, lines of Rust" "$(lines HEAD "${solver[@]}")" "$(lines "$before" "${solver[@]}")"
row "trinim-serve, with tests" "$(lines HEAD "${serve[@]}")" "$(lines "$before" "${serve[@]}")"
row "trinim-papers, -plane and -evolve, with tests" "$(lines HEAD "${others[@]}")" "$(lines "$before" "${others[@]}")"
row "tests, tools and benches" "$(lines HEAD "${tests[@]}")" "$(lines "$before" "${tests[@]}")"
row "declared options" "$(options HEAD)" "$(options "$before")"
if [ -x "$program" ]; then
    flags=$("$program" completions fish | grep -o -E -- '-l [a-z0-9-]+')
    echo "trinim completions fish: $(wc -l <<<"$flags") flags, $(sort -u <<<"$flags" | wc -l) names of flags;" \
        "$("$program" --help | awk '/^Options:/ { exit } /^  [a-z]/ { n++ } END { print n }') commands at the first level"
fi
