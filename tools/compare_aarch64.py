#!/usr/bin/env python3
"""A session traced on this machine gives the same bytes on aarch64.

usage: compare_aarch64.py NATIVE_BINARY EMULATOR AARCH64_BINARY

The native simulator serves a session in virtual time and traces it; the aarch64 build, under emulation, replays the
trace and compares every output byte for byte.
"""

import json
import socket
import struct
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

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
    server = subprocess.Popen(line, stdout=subprocess.PIPE, text=True)
    try:
        ready = json.loads(server.stdout.readline())
        session(f"{ready['host']}:{ready['websocket_port']}", (ready["host"], ready["udp_port"]))
    finally:
        server.terminate()
        server.wait(10)


def main():
    native, emulator, aarch64 = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "session.jsonl")
        trace(native, path)
        outputs = Path(path).read_text().count("\n")
        if outputs < 1000:
            sys.exit(f"expected a trace of at least 1000 lines, found {outputs}")
        for name, line in (("this machine", [native]), ("aarch64", [emulator, aarch64])):
            result = subprocess.run([*line, "replay", path], capture_output=True, text=True, timeout=600)
            print(f"{name}: {result.stdout.strip() or result.stderr.strip()}")
            if result.returncode != 0:
                sys.exit(f"the replay on {name} differs (exit code {result.returncode})")


if __name__ == "__main__":
    main()
