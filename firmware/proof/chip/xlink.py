#!/usr/bin/env python3
"""Stand-in linker for Xtensa: LLVM bitcode -> llvm-link -> opt -> llc -> llvm-mc -> GNU ld.

Debian's LLVM 22 has an Xtensa back end without an object linker and with four faults that this script works
around, each where it says so. rustc calls it with -Clinker=xlink.py -Clinker-plugin-lto.

Environment:
  XL_OPT   pipeline of opt: O2 (default) or Os
  XL_ATTR  LLVM features for all code, for instance -mul32high
  XL_LDS   linker script (default: link.ld beside this file)
"""
import os
import re
import shutil
import struct
import subprocess
import sys

LLVM = os.environ.get("XL_LLVM", "-22")
ATTRIBUTES = os.environ.get("XL_ATTR", "")
PIPELINE = os.environ.get("XL_OPT", "O2").lstrip("-")
LD = os.environ.get("XL_LD", "xtensa-lx106-elf-ld")
TRIPLE = ["-mtriple=xtensa-none-elf", "-mcpu=esp32"]
HERE = os.path.dirname(os.path.abspath(__file__))
# What other code, or the code generator, calls by name.
PUBLIC = "rust_main,memcpy,memset,memmove,memcmp"
# Functions that may be compiled without optimisation because the back end fails on them.
UNOPTIMISED_MAX = 8
BITCODE_MAGIC = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")


def attempt(*command):
    return subprocess.run(command, capture_output=True, text=True)


def run(*command):
    result = attempt(*command)
    if result.returncode:
        sys.exit("xlink: failed to run %s\n%s" % (" ".join(command)[:300], result.stderr[:3000]))
    return result.stdout


def tool(name):
    return name + LLVM


def is_bitcode(path):
    with open(path, "rb") as file:
        return file.read(4) in BITCODE_MAGIC


def arguments():
    for argument in sys.argv[1:]:
        if argument.startswith("@"):
            with open(argument[1:]) as file:
                yield from file.read().split("\n")
        else:
            yield argument


def inputs(arguments, out, work):
    """Objects of the program, and those of compiler_builtins, archives unpacked."""
    program, builtins = [], []
    for argument in arguments:
        if argument.endswith(".o") and argument != out and os.path.exists(argument):
            program.append(os.path.abspath(argument))
        elif argument.endswith((".rlib", ".a")):
            archive = os.path.abspath(argument)
            folder = os.path.join(work, os.path.basename(archive))
            os.makedirs(folder)
            subprocess.run([tool("llvm-ar"), "x", archive], cwd=folder, check=True)
            members = [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(".o")]
            (builtins if "compiler_builtins" in archive else program).extend(members)
    return program, builtins


def float_bits(text):
    """Bits of an LLVM float constant: a decimal, or the hexadecimal of the double of the same value."""
    if text.startswith("0x"):
        value = struct.unpack(">d", int(text, 16).to_bytes(8, "big"))[0]
    else:
        value = float(text)
    return struct.unpack(">i", struct.pack(">f", value))[0]


def without_float_selects(text):
    """The back end cannot select a choice between two float constants: choose between their bits."""
    number = r"(-?[0-9][0-9.e+-]*|0x[0-9A-F]{16})"
    count = 0

    def bits(match):
        nonlocal count
        count += 1
        indent, value, condition, yes, no = match.groups()
        chosen = "%%xfpsel%d" % count
        return "%s%s = select i1 %s, i32 %d, i32 %d\n%s%s = bitcast i32 %s to float" % (
            indent, chosen, condition, float_bits(yes), float_bits(no), indent, value, chosen)

    pattern = r"^(\s+)(%%\S+) = select(?: \w+)*? i1 (\S+), float %s, float %s.*$" % (number, number)
    return re.sub(pattern, bits, text, flags=re.M)


def with_features(text, float_unit):
    features = [part for part in (ATTRIBUTES + ("" if float_unit else ",-fp")).split(",") if part]
    if not features:
        return text
    return text.replace('"target-cpu"="esp32"',
                        '"target-cpu"="esp32" "target-features"="%s"' % ",".join(features))


def unoptimised(text, function):
    """The back end finds no register to spill in some functions with a large frame: such a one is compiled
    without optimisation, in its own attribute group."""
    define = re.search(r"^define [^\n]*@%s\([^\n]*? #(\d+)[^\n]*\{$" % re.escape(function), text, flags=re.M)
    if not define:
        sys.exit("xlink: failed to find the function %s that LLVM cannot compile" % function)
    group = re.search(r"^attributes #%s = \{ (.*) \}$" % define[1], text, flags=re.M)[1]
    kept = [word for word in re.findall(r'"[^"]*"="[^"]*"|"[^"]*"|\S+', group)
            if word not in ("optsize", "minsize", "alwaysinline", "inlinehint", "noinline")]
    number = 1 + max(int(n) for n in re.findall(r"^attributes #(\d+) =", text, flags=re.M))
    line = define[0].replace(" #%s" % define[1], " #%d" % number)
    text = text.replace(define[0], line)
    return text + "\nattributes #%d = { %s noinline optnone }\n" % (number, " ".join(kept))


def assembly(text, name, work, features):
    """Assembly of LLVM IR."""
    ir, out = "%s/%s.ll" % (work, name), "%s/%s.s" % (work, name)
    for _ in range(UNOPTIMISED_MAX + 1):
        with open(ir, "w") as file:
            file.write(text)
        result = attempt(tool("llc"), *TRIPLE, "-mattr=" + features, "-O2", "-function-sections",
                         "-data-sections", "-filetype=asm", ir, "-o", out)
        if not result.returncode:
            return out
        fault = re.search(r"Cannot scavenge register.*on function '@([^']+)'", result.stderr, flags=re.S)
        if not fault:
            sys.exit("xlink: failed to compile %s\n%s" % (ir, result.stderr[:3000]))
        print("xlink: compiled without optimisation: %s" % fault[1])
        text = unoptimised(text, fault[1])
    sys.exit("xlink: expected at most %d functions that LLVM cannot optimise, found more" % UNOPTIMISED_MAX)


def with_literal_sections(path):
    """The back end puts a function's literals into whatever section is current, and its assembler resolves an
    l32r within one section wrongly (off by 4 after a relaxed branch). So each function's literals go to a
    section of their own, and every l32r is left to GNU ld as a relocation."""
    lines, literals, count, section = [], [], 0, ""
    with open(path) as file:
        source = file.readlines()
    for line in source:
        if line.startswith("\t.literal_position"):
            continue
        literal = re.match(r"\t\.literal\s+(\S+),\s*(.*)$", line)
        if literal:
            literals.append(literal.groups())
            continue
        if literals and line.startswith("\t.section\t.text."):
            section = line
        if literals and line.startswith("\t.p2align\t2"):
            count += 1
            lines.append('\t.section\t.literal.%d,"ax",@progbits\n\t.p2align\t2\n' % count)
            lines += ["%s:\n\t.long\t%s\n" % literal for literal in literals]
            lines.append(section)
            literals = []
        lines.append(line)
    if literals:
        sys.exit("xlink: found literals without a function: %s" % literals[:3])
    with open(path, "w") as file:
        file.writelines(lines)


def compile_bitcode(bitcode, name, work, float_unit):
    text = run(tool("llvm-dis"), bitcode, "-o", "-")
    if float_unit:
        text = without_float_selects(text)
    features = ATTRIBUTES if float_unit else ATTRIBUTES + ",-fp"
    source = assembly(with_features(text, float_unit), name, work, features)
    with_literal_sections(source)
    return assemble(source, name, work)


def assemble(source, name, work):
    out = "%s/%s.o" % (work, name)
    run(tool("llvm-mc"), "-triple=xtensa-none-elf", "-mcpu=esp32", "-filetype=obj", source, "-o", out)
    return out


def main():
    given = list(arguments())
    out = given[given.index("-o") + 1]
    work = out + ".xlink"
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    program, builtins = inputs(given, out, work)
    objects = [path for path in program + builtins if not is_bitcode(path)]

    linked, optimised = work + "/program.bc", work + "/program.opt.bc"
    run(tool("llvm-link"), "-o", linked, *filter(is_bitcode, program))
    passes = "internalize,globaldce,default<%s>,globaldce" % PIPELINE
    run(tool("opt"), "-passes=" + passes, "--internalize-public-api-list=" + PUBLIC, linked, "-o", optimised)
    objects.append(compile_bitcode(optimised, "program", work, float_unit=True))

    # The routines that stand in for missing instructions must not be compiled into calls of themselves.
    builtins_linked = work + "/builtins.bc"
    run(tool("llvm-link"), "-o", builtins_linked, *filter(is_bitcode, builtins))
    objects.append(compile_bitcode(builtins_linked, "builtins", work, float_unit=False))
    start = assemble(HERE + "/start.S", "start", work)
    script = os.environ.get("XL_LDS", HERE + "/link.ld")
    result = attempt(LD, "--no-relax", "--gc-sections", "-T", script, "-Map", work + "/map", "-o", out, start,
                     *objects)
    # GNU ld only warns of a relocation out of reach; the program would be wrong.
    if result.returncode or "dangerous relocation" in result.stderr:
        sys.exit("xlink: failed to link %s\n%s" % (out, result.stderr[:3000]))


main()
