#!/usr/bin/env python3
"""Proves firmware-core on the ESP32's instruction set: `make test-xtensa`.

Builds the program `proof` for this machine, for Xtensa LX6 and for riscv32, runs the chips' builds under QEMU and
compares their output with this machine's, byte for byte. Prints instruction counts and depths of the stack on Xtensa and
holds them under the ceilings of instruction_ceilings.csv and stack_ceilings.csv. Installs Debian's toolchain where it is absent.

outline.txt holds what the cases are, how many, and how the session goes: a case that fell away would be equal everywhere.
`prove.py --bless` writes it anew.

Exit code: 0 proven, 1 a difference or a ceiling passed, 2 a tool is missing or a build failed.
"""
import csv
import difflib
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
WORKSPACE = HERE.parent
sys.path.insert(0, str(WORKSPACE))
from toolchain import environment, fail, install_tools, run  # noqa: E402
CHIP = HERE / "chip"
OUTLINE = HERE / "outline.txt"
TARGET = WORKSPACE / "target" / "proof"
# The emulated run takes seconds; a chip that hangs must not hang CI.
RUN_TIMEOUT_S = 300
# CCOUNT grows by 5.12 per instruction under this setting, and virtual time does not depend on this machine.
XTENSA_QEMU = ["qemu-system-xtensa", "-M", "sim", "-cpu", "de233_fpu", "-icount", "shift=7", "-semihosting",
               "-nographic", "-serial", "stdio", "-monitor", "none", "-kernel"]
RISCV_QEMU = ["qemu-system-riscv32", "-M", "virt", "-bios", "none", "-icount", "shift=0", "-nographic",
              "-serial", "stdio", "-monitor", "none", "-kernel"]


def chip_environment(flags):
    return {**environment(TARGET, flags), "CARGO_PROFILE_RELEASE_LTO": "off", "CARGO_PROFILE_RELEASE_DEBUG": "0"}


def chip_command(target):
    return ["/usr/bin/cargo", "build", "--release", "--locked", "-p", "proof", "--bin", "proof-chip", "--features", "chip",
            "--target", target, "-Zbuild-std=core,alloc", "-Zbuild-std-features=compiler-builtins-mem",
            "-Zjson-target-spec"]


def build_xtensa():
    # QEMU's core has no MULUH and MULSH, so its build goes without.
    flags = "-Clinker=%s -Clinker-plugin-lto" % (CHIP / "xlink.py")
    env = {**chip_environment(flags), "XL_ATTR": "-mul32high", "XL_OPT": "O2"}
    run(chip_command(str(CHIP / "xtensa-esp32.json")), WORKSPACE, env, "build for Xtensa LX6")
    return TARGET / "xtensa-esp32/release/proof-chip"


def build_riscv():
    flags = "-Clinker=ld.lld-22 -Clink-arg=-T%s" % (CHIP / "riscv32.ld")
    run(chip_command("riscv32imc-unknown-none-elf"), WORKSPACE, chip_environment(flags), "build for riscv32")
    return TARGET / "riscv32imc-unknown-none-elf/release/proof-chip"


def host_lines():
    command = ["cargo", "build", "--release", "--locked", "-p", "proof", "--bin", "proof-host"]
    run([*command, "--target-dir", str(WORKSPACE / "target")], WORKSPACE, dict(os.environ), "build for this machine")
    program = WORKSPACE / "target/release/proof-host"
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()


def chip_lines(qemu, program, what):
    """Lines of results, lines of counts."""
    try:
        result = subprocess.run([*qemu, program], capture_output=True, text=True, timeout=RUN_TIMEOUT_S,
                                stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        fail("the program for %s did not end within %d s" % (what, RUN_TIMEOUT_S), 1)
    lines = result.stdout.splitlines()
    if result.returncode:
        fail("the program for %s ended with code %d: %s%s"
             % (what, result.returncode, "\n".join(lines[-3:]), result.stderr[-1000:]), 1)
    return [line for line in lines if not line.startswith("#")], [line for line in lines if line.startswith("#")]


def compare(expected, found, what):
    if found == expected:
        print("%s: %d lines, equal to this machine's, byte for byte" % (what, len(found)))
        return True
    for line in difflib.unified_diff(expected, found, "this machine", what, lineterm="", n=0):
        print(line)
    return False


def outline(lines):
    """The lines without their hashes."""
    return [re.sub(r" (hash|bus|messages) [0-9a-f]{16}", "", line) for line in lines]


def counts_of(lines):
    """Name -> (mean, worst) instructions."""
    pattern = re.compile(r"# (.+) runs \d+ mean (\d+) worst (\d+)$")
    matches = filter(None, map(pattern.match, lines))
    return {match[1]: (int(match[2]), int(match[3])) for match in matches}


def hold_ceilings(counts):
    """Prints every count; false if one passes its ceiling or a ceiling has no count."""
    with open(HERE / "instruction_ceilings.csv", newline="") as file:
        ceilings = {row["work"]: (int(row["mean_max"]), int(row["worst_max"])) for row in csv.DictReader(file)}
    print("%-55s %9s %9s %19s" % ("Xtensa instructions", "mean", "worst", "ceilings"))
    held = True
    for work, (mean, worst) in counts.items():
        ceiling = ceilings.pop(work, None)
        # Nothing takes no instruction: such a count is none.
        passed = mean == 0 or ceiling and (mean > ceiling[0] or worst > ceiling[1])
        held = held and not passed
        print("%-55s %9d %9d %19s%s" % (work, mean, worst, "%d / %d" % ceiling if ceiling else "", "  PASSED" if passed else ""))
    for work in ceilings:
        print("no count for the ceiling of %s" % work)
    return held and not ceilings


def hold_stack_ceilings(lines):
    """Prints how deep the stack got on each side; false if one passes its ceiling or a ceiling has no depth."""
    depths = {match[1]: int(match[2]) for match in filter(None, (re.match(r"# stack of (.+): (\d+)$", line) for line in lines))}
    with open(HERE / "stack_ceilings.csv", newline="") as file:
        ceilings = {row["side"]: int(row["bytes_max"]) for row in csv.DictReader(file)}
    held = depths.keys() == ceilings.keys()
    for side, ceiling in ceilings.items():
        depth = depths.get(side)
        passed = not depth or depth > ceiling
        held = held and not passed
        print("Xtensa stack of %-20s %9s bytes, at most %9d%s" % (side, depth, ceiling, "  PASSED" if passed else ""))
    return held


def main():
    install_tools()
    expected = host_lines()
    outlined = OUTLINE.read_text().splitlines()
    if not compare(outline(expected), outlined, "outline.txt"):
        fail("cases or the session are not those of outline.txt; if that is meant: prove.py --bless", 1)
    xtensa, counts = chip_lines(XTENSA_QEMU, build_xtensa(), "Xtensa LX6")
    riscv, _ = chip_lines(RISCV_QEMU, build_riscv(), "riscv32")
    equal = [compare(expected, xtensa, "Xtensa LX6"), compare(expected, riscv, "riscv32")]
    held = hold_ceilings(counts_of(counts))
    held = hold_stack_ceilings(counts) and held
    if not all(equal):
        fail("results differ between targets: look for a float function that is not firmware_core::math's", 1)
    if not held:
        fail("a ceiling is passed, or nothing was measured for it: see the tables above", 1)


if __name__ == "__main__":
    if sys.argv[1:] == ["--bless"]:
        OUTLINE.write_text("\n".join(outline(host_lines())) + "\n")
    elif sys.argv[1:] == ["--help"]:
        print(__doc__)
    elif sys.argv[1:]:
        fail("expected --bless, --help or nothing, found %s" % " ".join(sys.argv[1:]), 2)
    else:
        main()
