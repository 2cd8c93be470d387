#!/usr/bin/env python3
"""Lists what the inner functions of kernel, codecs and audits call; fails on what is not expected.

A closure, or a helper of the standard library, that the compiler calls instead of inlining makes a
loop up to 1.3 times slower, in one build and not in another. So every call in these functions is to
be one of those below. Argument: the folder of the compiled libraries, target/release/deps. Needs
objdump, which comes with the linker.
"""

import pathlib
import re
import subprocess
import sys

# A function for each instruction set; the one without a suffix is for those of the target.
KERNEL = ["apply", "apply_first", "apply_part", "settle", "permute_needed", "census", "popcount", "restrict"]
HOT = {
    # The loops of an audit.
    "trinim": ["trinim_kernel::isa::run_wide::on_avx2"],
    "trinim_kernel": [f"trinim_kernel::Kernel::{name}{isa}" for name in KERNEL for isa in ("", "::avx2", "::avx512")],
    "trinim_pipeline": [
        "trinim_pipeline::codec::huffman::decode::Decoder::decode_parts",
        "trinim_pipeline::codec::huffman::decode::Decoder::decode_symbols",
        "trinim_pipeline::codec::huffman::encode::Encoder::count",
        "trinim_pipeline::codec::huffman::encode::Encoder::encode_symbols",
        "<trinim_pipeline::codec::rows::Rows as trinim_pipeline::codec::Codec>::decode",
        "<trinim_pipeline::codec::rows::Rows as trinim_pipeline::codec::Codec>::encode",
    ],
}
MEANT = re.compile(
    # What ends the program.
    r"core::panicking::|core::(option|result|num|slice|str)::.*(fail|failed|panic\w*)\b|_Unwind_Resume"
    r"|alloc::(alloc|raw_vec)::handle_(alloc_)?error"
    # Memory, by the stretch.
    r"|mem(cpy|move|set|cmp)$|bcmp$|__rustc::__rust_|.*raw_vec.*(grow_one|reserve)|core::ptr::drop_in_place"
    r"|.*SpecFromElem"
    # The tables of a stream, once for each.
    r"|core::slice::sort::|trinim_pipeline::codec::huffman::(codes|lengths)\b"
    # Once a tile or a bitmap.
    r"|core::slice::<impl \[\[T; N\]\]>::as_flattened_mut|.*SpecFromIterNested|.*Zip.*::new$|.*Vec.*Drop>::drop"
    # What Zip::new calls, where it is inlined itself.
    r"|core::iter::adapters::zip::TrustedRandomAccessNoCoerce::size$"
    # Stages, once a frame or a bitmap.
    r"|trinim_pipeline::codec::huffman::(de|en)code::\w+::\w+"
    r"|trinim_kernel::(Kernel::\w+::avx(2|512)|scalar::\w+)"
)


def demangled(names):
    """The names as Rust writes them; sections are named by what they hold."""
    names = [re.sub(r"^\.text(\.unlikely|\.hot)?\.", "", name) for name in names]
    return subprocess.run(["c++filt", *names], check=True, capture_output=True, text=True).stdout.splitlines()


def calls(library):
    """Pairs of a function and what it calls, of a library; a call of None for each function."""
    command = ["objdump", "--disassemble", "--reloc", "--demangle", "--no-show-raw-insn", library]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    function, pending = None, None
    for line in text.splitlines():
        if start := re.match(r"[0-9a-f]+ <(.*)>:$", line):
            function, pending = start[1], None
            yield function, None
        elif relocation := re.match(r"\s+[0-9a-f]+: R_\S+\s+(.*?)([-+]0x[0-9a-f]+)?$", line):
            if pending:
                yield function, relocation[1]
                pending = None
        elif re.match(r"\s+[0-9a-f]+:\s+call", line):
            # A register holds the address of a function of the C library. Through a table, in memory, is
            # dynamic dispatch, unless a relocation on the next line names the function.
            if pending:
                yield function, pending
            target = line.split("call", 1)[1].strip()
            pending = None if target.startswith("*%") else f"the address at {target}"
        elif pending:
            yield function, pending
            pending = None


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: tools/calls.py FOLDER")
    wrong, functions, total = [], 0, 0
    for package, hot in HOT.items():
        libraries = sorted(pathlib.Path(sys.argv[1]).glob(f"lib{package}-*.rlib"))
        if not libraries:
            sys.exit(f"{sys.argv[1]}: no library of {package}")
        for library in libraries:
            found = [pair for pair in calls(library) if pair[0] in hot]
            missing = set(hot) - {function for function, _ in found}
            wrong += [f"{library.name}: there is no function {name}" for name in sorted(missing)]
            found = [(function, callee) for function, callee in found if callee]
            names = demangled([callee for _, callee in found])
            functions, total = functions + len(hot), total + len(found)
            for function, callee in sorted({(f, name) for (f, _), name in zip(found, names)}):
                if not MEANT.match(callee):
                    wrong.append(f"{library.name}: {function} calls {callee}")
    if wrong:
        wrong.append("libraries of earlier builds are read, too: remove those that are named")
    print("\n".join(wrong) or f"{functions} functions, {total} calls, all of them meant")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
