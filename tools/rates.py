#!/usr/bin/env python3
"""Measures the rates of an estimate: solves, compared with their plans, stage by stage.

    tools/rates.py TRINIM [--rounds N] [--nine REPORT PLAN..]

TRINIM is the program. Of each row the plan and the solve run N times in turn (5), in a scratch folder in the current
one. REPORT is what `trinim solve --layers 9 --json` has written, and each PLAN what `trinim plan --layers 9 --json` had
before it, with the same memory; without them, blocks of 128 MiB are left out. Nothing else should run.

A plan names the seconds of the workers for each stage at the speed of the machine at that moment, a solve those that it
took. A rate in `src/plan/rates.rs` times the last column, a median of the rounds, is the new rate; of the first row only
those of publishing and of the audit row only that of the audit count, of the others all. Run it again with the new
rates: the last column must be about 1.
"""

import argparse
import json
import shutil
import statistics
import subprocess
import tempfile

# Arguments of the rows whose blocks are small. The first has the blocks of a database in place of logs.
ROWS = {
    "database": "--layers 8",
    "counts": "--layers 8 --keep counts --memory 256MiB",
    "audit": "--layers 8 --keep counts --audit all --memory 512MiB",
}
# What a solve reports for each stage of a plan.
MEASURED = {
    "decode": ("decode", "await_read"),
    "orient": ("orient",),
    "apply": ("apply",),
    "settle": ("settle",),
    "publish": ("publish",),
    "encode": ("encode",),
    "audit": ("audit",),
}


def output(program, *arguments):
    """Returns what a command reports."""
    return json.loads(subprocess.run([program, *arguments, "--json", "-q"], check=True, capture_output=True).stdout)


def planned(plan):
    """Returns the chosen placement of a plan."""
    return next(row for row in plan["placements"] if row["placement"] == plan["placement"])


def measured(report, stage):
    """Returns the seconds that a solve took for a stage."""
    return sum(report["stages_s"][name] for name in MEASURED[stage])


def rounds_of(program, arguments, rounds):
    """Returns pairs of a plan and the report of the solve after it."""
    arguments = arguments.split()
    for _ in range(rounds):
        folder = tempfile.mkdtemp(prefix="trinim-rates-", dir=".")
        try:
            plan = output(program, "plan", *arguments)
            yield plan, output(program, "solve", *arguments, "--out", f"{folder}/run")
        finally:
            shutil.rmtree(folder)


def compare(name, pairs):
    """Prints what was planned and measured of a row."""
    pairs = list(pairs)
    speed = statistics.median(plan["speed"] for plan, _ in pairs)
    print(f"\n{name}: {len(pairs)} rounds, speed {speed:.2f}\n\n| stage | planned | measured | planned / measured |\n|---|---|---|---|")
    for stage in MEASURED:
        plans, reports = [planned(plan)["stages_s"][stage] for plan, _ in pairs], [measured(report, stage) for _, report in pairs]
        if not statistics.median(plans):
            continue
        ratio = statistics.median(plan / report for plan, report in zip(plans, reports))
        print(f"| {stage} | {statistics.median(plans):.3g} s | {statistics.median(reports):.3g} s | {ratio:.2f} |")
    seconds = [planned(plan)["seconds"] for plan, _ in pairs], [report["elapsed_s"] for _, report in pairs]
    ratio = statistics.median(plan / report for plan, report in zip(*seconds))
    print(f"| whole | {statistics.median(seconds[0]):.3g} s | {statistics.median(seconds[1]):.3g} s | {ratio:.2f} |")
    written = statistics.median(report["log_bytes_written"] for _, report in pairs)
    plan = pairs[0][0]
    if written:
        stream_bits = plan["canonical_blocks"] << plan["offset_bits"]
        print(f"\nlogs: {8 * written / stream_bits:.4f} bits a position, {plan['log_bits_per_position']:.4f} planned")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", metavar="TRINIM")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--nine", nargs="+", metavar="FILE", default=[])
    arguments = parser.parse_args()
    reports = [json.load(open(file)) for file in arguments.nine]
    for name, row in ROWS.items():
        compare(name, rounds_of(arguments.program, row, arguments.rounds))
    if reports:
        compare("nine layers", ((plan, reports[0]) for plan in reports[1:]))


if __name__ == "__main__":
    main()
