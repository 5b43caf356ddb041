#!/usr/bin/env python3
"""Builds the firmware as far as this machine can: `make firmware`.

1. The ESP32-C3 firmware, public and lab, linked and made into images that esptool finds valid; clippy and rustdoc find
   nothing in it.
2. The type check of the same source for the ESP32: Debian's rustc has no asm! for Xtensa, so a copy of the standard
   library whose asm! makes no code stands in. It proves types and APIs, not code.
3. Sizes of flash and static RAM, held under the ceilings of size_ceilings.csv.
4. The RAM of the ESP32, added up: this build's data, the stacks and the heap of app/src/memory.rs, WiFi's part of it.
   What is left for the main stack and for a plan is held above floors.

Exit code: 0 built, 1 a ceiling is passed, 2 a tool is missing or a build failed.
"""
import csv
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from toolchain import environment, fail, install_tools, run

HERE = Path(__file__).resolve().parent
TARGET = HERE / "target" / "esp"
CHECK = HERE / "target" / "typecheck"
LIBRARY = Path("/usr/lib/rustlib/src/rust/library")
ESPTOOL = "esptool==5.6.0"
# What a lab build takes from the environment; these open nothing, and no other text of the program holds them.
# The passwords are as long as they may be: of short texts, as a network's name always is, the compiler makes code, in
# which nobody finds them.
LAB = {"ATOM_OTA_PASSWORD": "lab-ota-" + "0123456789" * 8, "ATOM_WIFI_SSID": "lab-ssid-0123456789-0123456789-0",
       "ATOM_WIFI_PASSWORD": "lab-wifi-" + "0123456789" * 5}
SECRETS = {name: text for name, text in LAB.items() if name.endswith("PASSWORD")}
BUILD_STD = ["-Zbuild-std=core,alloc", "-Zbuild-std-features=compiler-builtins-mem"]
# The ESP32's RAM for data (bytes), after the 8 KB that the ROM keeps at its start: esp-hal's dram_seg.
DRAM_BYTES = 192 * 1024
# What must be left: core 0's stack takes the network side (`make test-xtensa`: 3.5 KB), TCP/IP and interrupts; a plan is
# the lab's circle, 3,751 samples of 24 bytes.
MAIN_STACK_FLOOR = 16 * 1024
PLAN_FLOOR = 3751 * 24
# Less data than this the firmware cannot have (bytes): the mailbox and the WebSockets alone take it.
DATA_FLOOR = 64 * 1024
SECTIONS_DATA = (".data", ".data.wifi", ".bss", ".noinit")
SECTIONS_RAM = (".data", ".bss", ".noinit", ".rwtext", ".trap", ".rwdata_dummy", ".data.wifi", ".rwtext.wifi", ".rwtext.dummy")


def esptool():
    """The esptool of PyPI, in an environment of its own."""
    folder = HERE / "target" / ESPTOOL.replace("==", "-")
    program = folder / "bin" / "esptool"
    if not program.exists():
        run([sys.executable, "-m", "venv", str(folder)], HERE, dict(os.environ), "make a Python environment")
        run([str(folder / "bin" / "pip"), "install", "-q", ESPTOOL], HERE, dict(os.environ), "install " + ESPTOOL)
    return str(program)


def build_c3(features, extra, name):
    """Links the firmware for the ESP32-C3; returns the program's path."""
    env = {**environment(TARGET, "-Clinker=ld.lld-22 -Cforce-frame-pointers"), **extra}
    command = ["/usr/bin/cargo", "build", "--release", "--locked", "-p", "atom-firmware", "--features", features,
               "--target", "riscv32imc-unknown-none-elf", *BUILD_STD]
    run(command, HERE, env, "build the %s firmware for the ESP32-C3" % name)
    built = TARGET / "riscv32imc-unknown-none-elf/release/atom-firmware"
    program = TARGET / ("atom-firmware-%s.elf" % name)
    shutil.copy(built, program)
    return program


def check_style():
    """Clippy and rustdoc over the firmware's own code, without a warning."""
    common = ["-p", "atom-firmware", "--features", "esp32c3,lab", "--target", "riscv32imc-unknown-none-elf", "--locked", *BUILD_STD]
    env = {**environment(TARGET, ""), **LAB, "RUSTDOCFLAGS": "-D warnings", "CARGO": "/usr/bin/cargo"}
    run(["/usr/bin/cargo-clippy", "clippy", "--release", *common, "--no-deps", "--", "-D", "warnings"], HERE, env, "clippy over the firmware")
    run(["/usr/bin/cargo", "doc", *common, "--no-deps", "--document-private-items"], HERE, env, "rustdoc over the firmware")


def image_of(program):
    """Makes an image and has esptool check it; returns its size."""
    image = program.with_suffix(".bin")
    tool = esptool()
    run([tool, "--chip", "esp32c3", "elf2image", "--flash-size", "4MB", "-o", str(image), str(program)], HERE,
        dict(os.environ), "make the image")
    found = subprocess.run([tool, "--chip", "esp32c3", "image-info", str(image)], capture_output=True, text=True)
    valid = re.search(r"Checksum: 0x\w+ \(valid\)", found.stdout) and re.search(r"Validation hash: \w+ \(valid\)", found.stdout)
    if found.returncode or not valid:
        fail("esptool finds the image invalid:\n%s%s" % (found.stdout, found.stderr), 2)
    return image.stat().st_size


def ram_of(program, sections):
    """Bytes of RAM in these sections: what the program takes before it runs, the heap included."""
    sizes = subprocess.run(["llvm-size-22", "-A", str(program)], capture_output=True, text=True, check=True).stdout
    ram = 0
    for line in sizes.splitlines():
        fields = line.split()
        if len(fields) == 3 and fields[0] in sections:
            ram += int(fields[1])
    return ram


def memory_constants():
    """The numbers of app/src/memory.rs: name -> values in the order of the file."""
    text = (HERE / "app/src/memory.rs").read_text()
    numbers = {}
    for name, product in re.findall(r"const (\w+_BYTES\w*): usize = ([\d_ *]+);", text):
        factors = [int(factor.replace("_", "")) for factor in product.split("*")]
        numbers.setdefault(name, []).append(factors[0] * (factors[1] if len(factors) > 1 else 1))
    ranges = re.search(r"const GIVEN_BACK: .*?=\s*\[(.*?)\];", text, flags=re.S)[1]
    numbers["GIVEN_BACK"] = [int(end, 16) - int(start, 16) for start, end in
                             re.findall(r"(0x\w+)\.\.(0x\w+)", ranges.replace("_", ""))]
    return numbers


def in_rtc_slow(program):
    """Bytes of what the ESP32 has in its slow RTC RAM, and the ESP32-C3, which has none, among its data."""
    names = re.findall(r"ram\(unstable\(rtc_slow\)\)\)\]\npub\(crate\) static (\w+)", (HERE / "app/src/queues.rs").read_text())
    symbols = subprocess.run(["llvm-nm-22", "-S", "-C", str(program)], capture_output=True, text=True, check=True).stdout
    sizes = re.findall(r"^\w+ (\w+) . atom_firmware::queues::(\w+)$", symbols, flags=re.M)
    found = {name: int(size, 16) for size, name in sizes}
    return sum(found[name] for name in names)


def hold_floors(program):
    """Adds up the RAM of the ESP32, the data being that of the build for the ESP32-C3: same sources, same word size."""
    constants = memory_constants()
    heap_esp32, heap_c3 = constants["HEAP_BYTES"]
    [control_stack] = constants["CONTROL_STACK_BYTES"]
    data = ram_of(program, SECTIONS_DATA) - heap_c3 - in_rtc_slow(program)
    if data < DATA_FLOOR:
        fail("expected at least %d bytes of data besides the heap, found %d: are the sections named otherwise?" % (DATA_FLOOR, data), 2)
    main_stack = DRAM_BYTES - data - control_stack - heap_esp32
    heap = heap_esp32 + sum(constants["GIVEN_BACK"])
    # WiFi fills the smaller parts first; a plan needs one piece.
    beside = heap - max(constants["GIVEN_BACK"])
    wifi = constants["WIFI_BYTES_MAX"][0] + constants["SPARE_BYTES"][0]
    plan = max(constants["GIVEN_BACK"]) - max(0, wifi - beside)
    print("RAM of the ESP32, lab build, by the ESP32-C3's data:")
    for what, size in (("data", data), ("stack of the control side", control_stack), ("heap", heap), ("of it WiFi and spare", wifi)):
        print("  %-38s %9d bytes" % (what, size))
    held = True
    for what, size, floor in (("left for the main stack", main_stack, MAIN_STACK_FLOOR), ("left for a plan, in one piece", plan, PLAN_FLOOR)):
        held = held and size >= floor
        print("  %-38s %9d bytes, at least %9d%s" % (what, size, floor, "" if size >= floor else "  SHORT"))
    if not held:
        fail("the ESP32's RAM does not hold the program with a plan of %d bytes" % PLAN_FLOOR, 1)


def no_secret_in(program):
    """A public build holds no secret of a lab."""
    data = program.read_bytes()
    for secret in SECRETS.values():
        if secret.encode() in data:
            fail("the public build holds a secret of the lab build: %s" % secret, 2)


def every_secret_in(program):
    """A lab build holds them: or looking for them in the other would show nothing."""
    data = program.read_bytes()
    for name, secret in SECRETS.items():
        if secret.encode() not in data:
            fail("the lab build does not hold its %s: nothing says that the public one would" % name, 2)


def without_naked_functions(folder):
    """Replaces the bodies of naked functions by loops: only asm! has a stand-in."""
    for path in folder.rglob("*.rs"):
        text = path.read_text()
        if "naked_asm!" not in text:
            continue
        text = re.sub(r"^\s*#\[unsafe\(naked\)\]\n", "", text, flags=re.M)
        while True:
            call = re.search(r"(?:core::arch::)?naked_asm!\s*([({])", text)
            if not call:
                break
            depth, end = 1, call.end()
            pair = {"(": "()", "{": "{}"}[call[1]]
            while depth:
                depth += {pair[0]: 1, pair[1]: -1}.get(text[end], 0)
                end += 1
            text = text[:call.start()] + "loop {}" + text[end:].lstrip(";")
        path.write_text(text)


def library_without_assembly():
    """A copy of the standard library whose asm! and global_asm! make no code."""
    copy = CHECK / "library"
    if copy.exists():
        shutil.rmtree(copy)
    shutil.copytree(LIBRARY, copy, symlinks=False, ignore_dangling_symlinks=True)
    arch = copy / "core/src/arch.rs"
    text = arch.read_text()
    shim = (HERE / "app/asm_shim.rs").read_text()
    for name in ("asm", "global_asm"):
        built_in = re.search(r"#\[rustc_builtin_macro\]\npub macro %s\(.*?\n\}\n" % name, text, flags=re.S)
        ours = re.search(r"^pub macro %s \{.*?^\}\n" % name, shim, flags=re.S | re.M)
        if not built_in or not ours:
            fail("the standard library's %s! is not where it was in Rust 1.96" % name, 2)
        text = text.replace(built_in[0], ours[0])
    arch.write_text(text)
    return copy


def patched(name):
    """A copy of a dependency without naked functions."""
    metadata = subprocess.run(["/usr/bin/cargo", "metadata", "--format-version", "1", "--locked"], cwd=HERE,
                              env=environment(CHECK, ""), capture_output=True, text=True, check=True).stdout
    source = next(Path(package["manifest_path"]).parent for package in json.loads(metadata)["packages"]
                  if package["name"] == name)
    copy = CHECK / name
    if copy.exists():
        shutil.rmtree(copy)
    shutil.copytree(source, copy)
    without_naked_functions(copy)
    return copy


def copy_of_sources():
    """The sources beside the target folder: the patches would change the lockfile."""
    copy = CHECK / "sources"
    if copy.exists():
        shutil.rmtree(copy)
    shutil.copytree(HERE, copy / "firmware", ignore=shutil.ignore_patterns("target"))
    shutil.copytree(HERE.parent / "firmware-core", copy / "firmware-core", ignore=shutil.ignore_patterns("target"))
    manifest = (HERE.parent / "Cargo.toml").read_text()
    (copy / "Cargo.toml").write_text(manifest[:manifest.index("\n[package]\n") + 1])
    return copy / "firmware"


def check_esp32():
    CHECK.mkdir(parents=True, exist_ok=True)
    target = CHECK / "xtensa-esp32-none-elf.json"
    shutil.copy(HERE / "proof/chip/xtensa-esp32.json", target)
    patches = []
    for name in ("esp-hal", "esp-rtos"):
        patches += ["--config", 'patch.crates-io.%s.path="%s"' % (name, patched(name))]
    env = {**environment(CHECK / "build", ""), "__CARGO_TESTS_ONLY_SRC_ROOT": str(library_without_assembly()), **LAB}
    command = ["/usr/bin/cargo", "check", "-p", "atom-firmware", "--features", "esp32,lab", "--target", str(target),
               "-Zbuild-std=core,alloc", "-Zjson-target-spec", *patches]
    run(command, copy_of_sources(), env, "check the types of the firmware for the ESP32")


def hold_ceilings(found):
    with open(HERE / "size_ceilings.csv", newline="") as file:
        ceilings = {row["what"]: int(row["bytes_max"]) for row in csv.DictReader(file)}
    held = True
    for what, size in found.items():
        passed = size > ceilings[what]
        held = held and not passed
        print("%-40s %9d bytes, at most %9d%s" % (what, size, ceilings[what], "  PASSED" if passed else ""))
    if not held:
        fail("a size is past its ceiling", 1)


def main():
    install_tools()
    # With the secrets in its environment: without the feature it must not take them.
    public = build_c3("esp32c3", LAB, "public")
    no_secret_in(public)
    check_style()
    lab = build_c3("esp32c3,lab", LAB, "lab")
    every_secret_in(lab)
    sizes = {"image, public": image_of(public), "image, lab": image_of(lab), "static RAM with the heap": ram_of(lab, SECTIONS_RAM)}
    check_esp32()
    hold_ceilings(sizes)
    hold_floors(lab)


if __name__ == "__main__":
    if sys.argv[1:] == ["--help"]:
        print(__doc__)
    elif sys.argv[1:]:
        fail("expected --help or nothing, found %s" % " ".join(sys.argv[1:]), 2)
    else:
        main()
