#!/usr/bin/env python3
"""Compares what two builds of the program report: fields, their order and values, exit codes, bytes of databases.

    tools/reports.py OLD NEW [-v] [--ignore WORD,..]

OLD and NEW are paths of `trinim`; the programs `trinim-NAME` stand beside them, or are commands of an older build. Each
command below runs once with each program, in a folder of its own, and once more for its text. Times, rates, sizes of
memory and words for people (reasons, hints, descriptions) may differ in JSON, and numbers with a unit in texts;
everything else must not, but for fields and lines of text that --ignore names. Prints a line for each command that differs and exits with 1 if there is one. It takes two
minutes.
"""

import argparse
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile

# Fields that depend on the moment, the machine or the process, and words for people.
VOLATILE = re.compile(
    r"(_s|_s_ago|seconds|_per_second|speed|log_bytes_written|pid|reason"
    r"|hint|message|description|peak_rss_bytes|peak_leased_bytes|disk_free_bytes|memory_available_bytes)$"
)

# The output of these begins with what the command before has left in the folder.
COMMANDS = """
solve --layers 3 --rule normal --json
solve --layers 4 --json
solve --layers 5 --rule normal --json --out n5
solve --layers 5 --json --out m5 --block-bits 9
solve --layers 5 --json --out m5 --block-bits 9
solve --layers 5 --json --out m5 --block-bits 10
solve --layers 6 --json --out m6 --block-bits 12
solve --layers 6 --json --out m6 --rule normal
solve --layers 6 --json --out s6 --log-placement shared --codec rows-huffman --threads 2
solve --layers 6 --json --out c6 --keep counts --audit 20%
solve --layers 6 --json --out b6 --keep book:9
solve --layers 5 --json --out g5 --rule normal --values nimbers
solve --layers 5 --json --out d5 --values remoteness
solve --layers 5 --json --out t5 --max-take 2
solve --board rect:4x4 --json --out r44
solve --board hex:2 --json --out h2
solve --layers 5 --strategy block-pull --json --out pull5 --block-bits 9
solve --layers 5 --strategy block-push --redundancy keep --json --out push5 --block-bits 9
solve --layers 5 --strategy retrograde --json --out retro5
solve --layers 5 --strategy forward --json --out forward5
solve --layers 7 --json --out m7
solve --layers 7 --json --out x7 --max-disk 1MiB
solve --layers 9 --json --out x9 --memory 1MiB
resume m5 --json
resume nothing --json
status m6 --json
status nothing --json
stats m6 --json
stats m6 --quiet --json
stats b6 --json
stats g5 --json
stats d5 --json
stats --layers 9 --json
stats nothing --json
probe m6 1/11/101/0000/00000/000000 --json
probe m6 1/11/101/0000/00000/000000 --brief --json
probe b6 1/11/111/1111/11111/111111 --json
probe b6 1/11/101/0000/00000/000000 --json
probe g5 1/11/101/0000/00000 --json
probe d5 1/11/101/0000/00000 --json
probe m6 nonsense --json
probe --layers 9 1/11/101/0000/00000/000000/0000000/00000000/000000000 --json
export m5 -o e5.npy --json
export m5 -o e5.npy --json
export g5 -o e5.csv --format csv --json
verify m6 --json
verify g5 --json
verify d5 --json
verify b6 --json
check m6 --json
check c6 --json
repair m6 --json
plan --layers 7 --json
plan --layers 8 --json
plan --layers 8 --keep counts --memory 256MiB --json
plan --layers 9 --memory 4GiB --json
plan --board rect:6x6 --json
layout --layers 8 --json
layout --layers 9 --block-bits 30 --json
layout --board rect:6x6 --json
layout --paper --json
layout search --layers 6 --bits 6 --json
report m5 n5 --out figures --json
task init --store store --layers 5 --block-bits 9 --json
task plan --store store
task --store store --batch 0 --json
task --store store --batch 1,2,3,4,5,6,7,8,9,10,11 --json
task list --store store --json
task sweep --store store --json
task --store store --batch 999 --json
plane at 2718282 3141593 --json
plane at 10^100 10^99 --json
plane at 80 130 --goal attrition --json
plane at 8 12 --flip turn --json
plane at 1 x --json
plane points --from 0 --count 26 --json
plane points --count 30 --check --json
plane index 102 --json
plane index 103 --json
plane precision --json
plane verify --max 60 --json
plane verify --max 60 --flip none --json
plane verify --max 60 --goal attrition --flip none --json
plane claims --json
evolve run --game nim:4,4,4,4 --preset best --runs 2 --seed 1 --json
evolve run --game subtraction:1,2,3:40 --terminals 1 --runs 2 --seed 3 --generations 20 --json
evolve run --game nim:4,4,4,4 --preset paper --runs 2 --generations 10 --json
evolve score --game nim:2,1 --formula a1-a2*a1 --json
evolve score --game nim:2,1 --formula a1-a2*a1 --tree --json
evolve score --game nim:2,1 --formula a1-a9 --json
evolve verify --game nim:4,4,4,4 --formula (a1^a2^a3)-a4 --max 15 --json
evolve verify --game nim:4,4,4,4 --formula (a1^a2)-a4 --max 15 --json
evolve verify --game wythoff:6,6 --formula a1 --json
evolve experiment 1 --runs 2 --generations 5 --json
evolve export --game nim:4,4,4,4 --formula a1^a2^a3^a4 --as python --json
evolve claims --json
"""


# What became a command of another program.
PAPERS = ("bench", "layout", "report")
# A time, a rate, a size, or a share of the moment, in a text.
MEASURED = re.compile(r"\d[\d,.]*( to \d[\d,.]*)? ?(ns|µs|ms|s|min|h|days|years|[KMGT]iB|B|%|\S+/s)\b|\d+T\S+Z")


def moved(command):
    """Returns what a command of an older build is called today."""
    is_paper = command[0] in PAPERS or command[0] == "solve" and "--strategy" in command
    return ["papers", *command] if is_paper else command


def plain(text, ignored):
    """Returns the lines of a text without what was measured or is ignored."""
    passed = ("time", "memory", *ignored)
    return [MEASURED.sub("#", line).rstrip() for line in text.splitlines() if line.split(" ")[0] not in passed]


def text_differences(old, new):
    """Yields the first lines in which two texts differ."""
    if old != new:
        gone = [line for line in old if line not in new][:3]
        added = [line for line in new if line not in old][:3]
        yield f"text: {gone} and {added}"


def objects(text):
    """Returns the JSON values in a text, objects as lists of fields, so that their order counts; or the text."""
    decoder = json.JSONDecoder(object_pairs_hook=lambda pairs: {"fields": pairs})
    found, at = [], 0
    try:
        while at < len(text.rstrip()):
            value, at = decoder.raw_decode(text, at + len(text[at:]) - len(text[at:].lstrip()))
            found.append(value)
    except ValueError:
        return text
    return found


def differences(old, new, ignored, at=""):
    """Yields where two values differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        old, new = ([field for field in one["fields"] if field[0] not in ignored] for one in (old, new))
        names = [[name for name, _ in fields] for fields in (old, new)]
        if names[0] != names[1]:
            yield f"{at or 'report'}: fields {names[0]} and {names[1]}"
            return
        for (name, one), (_, other) in zip(old, new):
            if not VOLATILE.search(name):
                yield from differences(one, other, ignored, f"{at}.{name}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (one, other) in enumerate(zip(old, new)):
            yield from differences(one, other, ignored, f"{at}[{index}]")
    elif old != new:
        yield f"{at}: {str(old)[:200]} and {str(new)[:200]}"


def tree(folder):
    """Returns a hash of the files of databases below a folder."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and (path.parent.name == "db" or path.name in ("SUMS", "first.book")):
            found[str(path.relative_to(folder))] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def main():
    """Runs all commands with both programs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old", type=pathlib.Path)
    parser.add_argument("new", type=pathlib.Path)
    parser.add_argument("-v", "--verbose", action="store_true", help="print the commands that agree, too")
    parser.add_argument("--ignore", default="", help="fields of JSON and labels of lines that may differ")
    args = parser.parse_args()
    ignored = args.ignore.split(",")
    lines = [line.split() for line in COMMANDS.strip().splitlines()]
    commands = [(line, args.new, moved(line)) for line in lines]
    for program in [args.new, *(args.new.with_name(f"trinim-{name}") for name in ("papers", "task"))]:
        names = subprocess.run([program, "schema"], capture_output=True, text=True, check=True).stdout.split()
        commands += [(["schema", name], program, ["schema", name]) for name in names]
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="trinim-reports.") as scratch:
        folders = [pathlib.Path(scratch, name) for name in ("old", "new")]
        for folder in folders:
            folder.mkdir()
        for command, program, words in commands:
            pairs = ((args.old, command), (program, words))
            run = lambda drop: [
                subprocess.run(
                    [program.resolve(), *(word for word in words if word not in drop)],
                    cwd=folder,
                    capture_output=True,
                    text=True,
                )
                for (program, words), folder in zip(pairs, folders)
            ]
            ran = run(())
            found = list(differences(objects(ran[0].stdout), objects(ran[1].stdout), ignored))
            if "--json" in command:
                texts = run(("--json",))
                found += text_differences(*(plain(one.stdout, ignored) for one in texts))
                if texts[0].returncode != texts[1].returncode:
                    found.append(f"exit codes of the text {texts[0].returncode} and {texts[1].returncode}")
            if ran[0].returncode != ran[1].returncode:
                found.append(f"exit codes {ran[0].returncode} and {ran[1].returncode}: {ran[1].stderr[:300]}")
            wrong += bool(found)
            for text in found or (["equal"] if args.verbose else []):
                print(f"trinim {' '.join(command)}: {text}")
        old, new = (tree(folder) for folder in folders)
        for name in sorted(old.keys() | new.keys()):
            if old.get(name) != new.get(name):
                wrong += 1
                print(f"{name} differs")
    print(f"{len(commands)} commands, {wrong} differ")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
