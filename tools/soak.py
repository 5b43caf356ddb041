#!/usr/bin/env python3
"""A simulator left alone at full speed keeps its memory flat.

usage: soak.py BINARY [--minutes 10] [--growth-mb 2]

Serves at --speed max with a client that streams and moves over UDP, while clients, faults, sessions and traces come and
go, and reads the resident memory ten times. Fails when it grows by more than --growth-mb after the first tenth.
Linux only.
"""

import argparse
import json
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request

OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
PERIOD_S = 0.02
# A trace is long on the disk at full speed; one in so many rounds, and short.
ROUNDS_PER_TRACE = 500


def call(address, method, path, **body):
    """Asks the command API for something."""
    request = urllib.request.Request(f"http://{address}/api/{path}", json.dumps(body).encode(), method=method)
    with OPENER.open(request, timeout=60) as reply:
        return json.load(reply)


def resident_mb(pid):
    """Resident memory (MB)."""
    with open(f"/proc/{pid}/status") as status:
        line = next(line for line in status if line.startswith("VmRSS:"))
    return int(line.split()[1]) / 1e3


def websocket_comes_and_goes(host, port):
    """A page opens a WebSocket, asks nothing and vanishes."""
    with socket.create_connection((host, port), timeout=10) as page:
        page.sendall(
            b"GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        )
        page.recv(256)


def one_round(number, ready, link):
    """One round of coming and going."""
    host, port = ready["host"], ready["websocket_port"]
    address = f"{host}:{port}"
    link.send(struct.pack("<BH", 0x0C, 100))
    j1_cdeg = 3000 if number % 2 else -3000
    link.send(struct.pack("<B6hH", 0x0E, j1_cdeg, 0, 0, 0, 0, 0, 0))
    websocket_comes_and_goes(host, port)
    call(address, "POST", "faults", name="wifi.jitter", ms=5, for_s=30, every_s=60)
    call(address, "DELETE", "faults")
    session = call(address, "POST", "sessions")["session"]
    call(address, "DELETE", f"sessions/{session}")
    if number % ROUNDS_PER_TRACE == 0:
        recording = call(address, "POST", "recordings", format="csv", name=f"runs-{number}")
        call(address, "DELETE", f"recordings/{recording['id']}")
        recording = call(address, "POST", "recordings", format="trace", name=f"trace-{number}")
        call(address, "DELETE", f"recordings/{recording['id']}")


def soak(ready, pid, minutes):
    """Runs for so long; returns the growth (MB)."""
    address = f"{ready['host']}:{ready['websocket_port']}"
    link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    link.connect((ready["host"], ready["udp_port"]))
    link.setblocking(False)
    readings_mb, virtual_s, before_s, number = [], 0.0, call(address, "GET", "clock")["t_s"], 0
    begin = time.monotonic()
    while len(readings_mb) < 10:
        end = begin + (len(readings_mb) + 1) * minutes * 6
        while time.monotonic() < end:
            number += 1
            one_round(number, ready, link)
            try:
                while link.recv(2048):
                    pass
            except BlockingIOError:
                pass
            # A trace begins with a reset, and time starts again.
            now_s = call(address, "GET", "clock")["t_s"]
            virtual_s += now_s - before_s if now_s >= before_s else now_s
            before_s = now_s
            time.sleep(PERIOD_S)
        readings_mb.append(resident_mb(pid))
        print(f"{virtual_s / 3600:9.1f} virtual hours, {number:6} rounds, {readings_mb[-1]:6.2f} MB", flush=True)
    return max(readings_mb[1:]) - readings_mb[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--growth-mb", type=float, default=2)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        line = [arguments.binary, "serve", "--port", "0", "--udp-port", "0", "--speed", "max", "--log", "error"]
        server = subprocess.Popen([*line, "--commands-folder", folder], stdout=subprocess.PIPE, text=True)
        try:
            growth_mb = soak(json.loads(server.stdout.readline()), server.pid, arguments.minutes)
        finally:
            server.terminate()
            server.wait(30)
    print(f"grew by {growth_mb:.2f} MB after the first tenth")
    if growth_mb > arguments.growth_mb:
        sys.exit(f"expected a growth of at most {arguments.growth_mb} MB")


if __name__ == "__main__":
    main()
