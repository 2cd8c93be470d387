#!/usr/bin/env bash
# Prints the licences of all packages that trinim is built of, and other programs that are named:
# each with its name and its choice, then each text once, behind the packages that bring it. After a
# build, which has fetched them: bash tools/notices.sh [--package trinim-task] >NOTICES
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
declare -A users=() files=()
while read -r name version; do
    for folder in "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*/"$name-${version#v}"; do
        [ -d "$folder" ] || continue
        while IFS= read -r file; do
            sum=$(sha256sum <"$file")
            users[$sum]+=" $name"
            files[$sum]=$file
        done < <(find "$folder" -maxdepth 2 -type f -iregex '.*/\(licen[cs]e\|copying\|notice\|copyright\)[^/]*' | sort)
    done
done < <(cargo tree --locked --package trinim --edges normal --prefix none --format '{p}' "$@" | cut -d' ' -f1,2 | sort -u)
echo "Packages and their licences:"
cargo tree --locked --package trinim --edges normal --prefix none --format '{p}: {l}' "$@" | sed 's/ (\*)$//; s/ (.*):/:/' | sort -u
for sum in $(printf '%s\n' "${!users[@]}" | tr -d ' -' | sort); do
    printf '\n==%s\n\n' "${users["$sum  -"]}"
    cat "${files["$sum  -"]}"
done
