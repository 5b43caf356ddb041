"""Debian's Rust for the chips: what is installed, and the environment of its cargo. Used by build.py and proof/prove.py."""
import os
import shutil
import subprocess
import sys

PACKAGES = ["rustc-web", "cargo-web", "rust-web-clippy", "rust-web-src", "llvm-22", "lld-22", "binutils-xtensa-lx106", "qemu-system-misc",
            "python3-venv"]
TOOLS = ["/usr/bin/rustc", "/usr/bin/cargo", "/usr/bin/cargo-clippy", "/usr/bin/rustdoc", "llvm-link-22", "ld.lld-22", "xtensa-lx106-elf-ld", "qemu-system-xtensa",
         "qemu-system-riscv32"]


def fail(message, code):
    print("%s: %s" % (os.path.basename(sys.argv[0]), message), file=sys.stderr)
    sys.exit(code)


def install_tools():
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if not missing:
        return
    if not shutil.which("apt-get"):
        fail("needs %s: install Debian's packages %s" % (", ".join(missing), " ".join(PACKAGES)), 2)
    sudo = [] if os.geteuid() == 0 else ["sudo"]
    for command in (["update", "-q"], ["install", "-qy", "--no-install-recommends", *PACKAGES]):
        if subprocess.run([*sudo, "apt-get", *command], stdout=subprocess.DEVNULL).returncode:
            fail("apt-get %s failed; install %s by hand" % (command[0], " ".join(PACKAGES)), 2)


def environment(target_folder, flags):
    """Debian's cargo takes the first rustc on the path; building the standard library needs the bootstrap key."""
    return {
        **os.environ,
        "PATH": "/usr/bin:/bin:/usr/sbin",
        "RUSTC_BOOTSTRAP": "1",
        "RUSTFLAGS": flags,
        "CARGO_TARGET_DIR": str(target_folder),
    }


def run(command, folder, env, what):
    print("%s" % what, flush=True)
    if subprocess.run(command, cwd=folder, env=env).returncode:
        fail("%s failed" % what, 2)
