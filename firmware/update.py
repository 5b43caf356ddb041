#!/usr/bin/env python3
"""Sends a firmware image to an ATOM with a lab build: update.py HOST IMAGE, with the password in ATOM_OTA_PASSWORD.

Exit code: 0 updated, 1 refused or failed (the reason is printed), 2 wrong use.
"""
import hashlib
import hmac
import os
import socket
import struct
import sys

PORT = 3232
NONCE_BYTES = 16
TIMEOUT_S = 30


def receive(connection, count):
    data = b""
    while len(data) < count:
        part = connection.recv(count - len(data))
        if not part:
            sys.exit("update.py: the ATOM closed the connection")
        data += part
    return data


def verdict(connection):
    """Reads + or - and, after -, the reason."""
    if receive(connection, 1) == b"+":
        return
    reason = b""
    while part := connection.recv(200):
        reason += part
    sys.exit("update.py: refused: %s" % reason.decode(errors="replace"))


def main():
    if len(sys.argv) != 3 or "ATOM_OTA_PASSWORD" not in os.environ:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    with open(sys.argv[2], "rb") as file:
        image = file.read()
    with socket.create_connection((sys.argv[1], PORT), timeout=TIMEOUT_S) as connection:
        nonce = receive(connection, NONCE_BYTES)
        told = struct.pack("<I", len(image)) + hashlib.sha256(image).digest()
        code = hmac.new(os.environ["ATOM_OTA_PASSWORD"].encode(), nonce + told, hashlib.sha256).digest()
        connection.sendall(told + code)
        verdict(connection)
        try:
            connection.sendall(image)
        except OSError:
            # It ended the transfer: what it says comes next.
            pass
        verdict(connection)
    print("updated: the ATOM restarts into booting and holds its pose")


try:
    main()
except OSError as error:
    sys.exit("update.py: %s; is the ATOM on, its address right, and the image there?" % error)
