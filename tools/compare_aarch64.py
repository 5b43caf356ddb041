#!/usr/bin/env python3
"""The same inputs give the same bytes on aarch64 as on this machine.

usage: compare_aarch64.py NATIVE_BINARY EMULATOR AARCH64_BINARY

Three comparisons, each of every output byte:
- the stored trace tests/data/session.jsonl, replayed by both;
- a fresh session, served and traced on this machine, replayed by both;
- scenarios, run by both: every input, every output, goals and true angles.
"""

import json
import socket
import struct
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

PROJECT = Path(__file__).parent.parent
STORED_TRACE = PROJECT / "tests" / "data" / "session.jsonl"
# A plan, a grasp, jogs in space, random links, random bit errors, a power cycle.
SCENARIOS = (
    "bus-bit-errors",
    "gamepad-tool-frame",
    "grasp-through-stop-and-hold",
    "plan-upload-over-loss",
    "power-cycle-in-a-run",
    "wifi-hotspot",
)
READY_DEG = (0, 0, -90, 0, 0, 0)


def command(address, path, **body):
    """Asks the command API for something."""
    request = urllib.request.Request(f"http://{address}/api/{path}", json.dumps(body).encode(), method="POST")
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60) as reply:
        return json.load(reply)


def session(address, udp):
    """Moves, jogs in joints and in space, tracks, and stops, over a jittery link."""
    link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    link.connect(udp)

    def play(message, seconds, times=1):
        for _ in range(times):
            link.send(message)
            command(address, "step")  # the datagram comes before the time that follows
            command(address, "advance", for_s=seconds / times)

    def subscribe():
        play(struct.pack("<BH", 0x0C, 100), 0.01)

    subscribe()
    play(struct.pack("<B6hH", 0x0E, *(100 * q for q in READY_DEG), 0), 4)
    command(address, "faults", name="wifi.jitter", ms=15)
    for code, fields in (
        ((0x0F, 0), (100, -50, 80, 30, -60, 90)),  # JOG of joints, 0.1 °/s
        ((0x0F, 1), (200, 100, -150, 30, 0, -50)),  # JOG of the TCP, base frame
        ((0x0F, 2), (0, 0, 100, 0, 80, 0)),  # JOG of the TCP, tool frame
    ):
        subscribe()
        play(struct.pack("<BB6h", *code, *fields), 1.5, times=30)
    subscribe()
    play(struct.pack("<BB6h", 0x10, 50, 1000, -500, -7000, 1500, 2000, -3000), 1.5, times=30)
    play(b"\x09", 1)


def trace(binary, path):
    """Serves and traces a session."""
    line = [binary, "serve", "--port", "0", "--udp-port", "0", "--speed", "paused", "--seed", "11", "--trace", path]
    server = subprocess.Popen([*line, "--log", "error"], stdout=subprocess.PIPE, text=True)
    try:
        ready = json.loads(server.stdout.readline())
        session(f"{ready['host']}:{ready['websocket_port']}", (ready["host"], ready["udp_port"]))
    finally:
        server.terminate()
        server.wait(10)
    lines = Path(path).read_text().count("\n")
    if lines < 1000:
        sys.exit(f"expected a trace of at least 1000 lines, found {lines}")


def replay(machines, path):
    """Both machines replay a trace to its very outputs."""
    for name, line in machines.items():
        result = subprocess.run([*line, "replay", path], capture_output=True, text=True, timeout=600)
        print(f"{name}: {Path(path).name}: {result.stdout.strip() or result.stderr.strip()}", flush=True)
        if result.returncode != 0:
            sys.exit(f"the replay on {name} differs (exit code {result.returncode})")


def run_scenarios(line, folder):
    """Runs scenarios; returns their files, logs without the first line, which says how long it took."""
    files = [str(PROJECT / "scenarios" / f"{scenario}.toml") for scenario in SCENARIOS]
    result = subprocess.run(
        [*line, "run", *files, "--record", folder, "--record-all", "--wall-limit", "600"],
        capture_output=True, text=True, timeout=1800,
    )
    if result.returncode != 0:
        sys.exit(f"{line[-1]} run: exit code {result.returncode}\n{result.stdout}{result.stderr}")
    paths = sorted(Path(folder).iterdir())
    return {path.name: path.read_text().split("\n", 1 if path.suffix == ".log" else 0)[-1] for path in paths}


def compare_scenarios(machines, folder):
    """Both machines write the same files."""
    here, there = (run_scenarios(line, Path(folder) / name) for name, line in machines.items())
    if here.keys() != there.keys() or not here:
        sys.exit(f"expected the same files, found {list(here)} here and {list(there)} on aarch64")
    for name, text in here.items():
        for number, (a, b) in enumerate(zip(text.split("\n"), there[name].split("\n")), start=1):
            if a != b:
                sys.exit(f"{name} differs in line {number}:\n{a}\n{b}")
        if len(text) != len(there[name]):
            sys.exit(f"{name} has {len(text)} bytes here and {len(there[name])} on aarch64")
    print(f"{len(here)} files of {len(SCENARIOS)} scenarios: identical, {sum(map(len, here.values()))} bytes")


def main():
    native, emulator, aarch64 = sys.argv[1:]
    machines = {"this machine": [native], "aarch64": [emulator, aarch64]}
    replay(machines, str(STORED_TRACE))
    with tempfile.TemporaryDirectory() as folder:
        fresh = str(Path(folder) / "fresh.jsonl")
        trace(native, fresh)
        replay(machines, fresh)
        compare_scenarios(machines, folder)


if __name__ == "__main__":
    main()
