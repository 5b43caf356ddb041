#!/usr/bin/env python3
"""Builds the firmware as far as this machine can: `make firmware`.

1. The ESP32-C3 firmware, public and lab, linked and made into images that esptool finds valid.
2. The type check of the same source for the ESP32: Debian's rustc has no asm! for Xtensa, so a copy of the standard
   library whose asm! makes no code stands in. It proves types and APIs, not code.
3. Sizes of flash and static RAM, held under the ceilings of size_ceilings.csv.

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
LAB = {"ATOM_OTA_PASSWORD": "lab-ota-0123456789", "ATOM_WIFI_SSID": "lab-ssid-0123456789",
       "ATOM_WIFI_PASSWORD": "lab-wifi-0123456789"}
BUILD_STD = ["-Zbuild-std=core,alloc", "-Zbuild-std-features=compiler-builtins-mem"]
SECTIONS_RAM = (".data", ".bss", ".noinit", ".rwtext", ".trap", ".rwdata_dummy", ".data.wifi", ".rwtext.wifi", ".rwtext.dummy")


def esptool():
    """The esptool of PyPI, in an environment of its own."""
    folder = HERE / "target" / "esptool"
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


def static_ram(program):
    """Bytes of RAM that the program takes before it runs, the heap included."""
    sizes = subprocess.run(["llvm-size-22", "-A", str(program)], capture_output=True, text=True, check=True).stdout
    ram = 0
    for line in sizes.splitlines():
        fields = line.split()
        if len(fields) == 3 and fields[0] in SECTIONS_RAM:
            ram += int(fields[1])
    return ram


def no_secret_in(program):
    """A public build holds neither passwords nor the port for updates."""
    data = program.read_bytes()
    for secret in LAB.values():
        if secret.encode() in data:
            fail("the public build holds a secret of the lab build: %s" % secret, 2)


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
    public = build_c3("esp32c3", {}, "public")
    no_secret_in(public)
    lab = build_c3("esp32c3,lab", LAB, "lab")
    sizes = {"image, public": image_of(public), "image, lab": image_of(lab), "static RAM with the heap": static_ram(lab)}
    check_esp32()
    hold_ceilings(sizes)


main()
