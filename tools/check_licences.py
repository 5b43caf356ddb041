"""Checks that every crate we build on has a licence we accept. Exit code 1 names those that have not.

A crate passes when one alternative of its SPDX expression (`A OR B`) needs accepted licences only (`A AND B`).
"""

import json
import subprocess
import sys

ACCEPTED = {
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MPL-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
}


def parse(tokens):
    """One `OR` expression: True if some alternative is accepted."""
    accepted = parse_all(tokens)
    while tokens and tokens[0] == "OR":
        tokens.pop(0)
        accepted = parse_all(tokens) or accepted
    return accepted


def parse_all(tokens):
    """One `AND` expression: True if all parts are accepted."""
    accepted = parse_one(tokens)
    while tokens and tokens[0] == "AND":
        tokens.pop(0)
        accepted = parse_one(tokens) and accepted
    return accepted


def parse_one(tokens):
    """A licence, one with an exception, or an expression in parentheses."""
    token = tokens.pop(0)
    if token == "(":
        accepted = parse(tokens)
        tokens.pop(0)
        return accepted
    if tokens and tokens[0] == "WITH":
        tokens.pop(0)
        token = f"{token} WITH {tokens.pop(0)}"
    return token in ACCEPTED


def is_accepted(expression):
    tokens = expression.replace("/", " OR ").replace("(", " ( ").replace(")", " ) ").split()
    return bool(tokens) and parse(tokens)


def main():
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    metadata = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    refused = [
        f"{package['name']} {package['version']}: {package['license'] or 'no licence named'}"
        for package in metadata["packages"]
        if not is_accepted(package["license"] or "")
    ]
    for line in sorted(refused):
        print(f"licence not accepted: {line}", file=sys.stderr)
    if not refused:
        print(f"licences of {len(metadata['packages'])} crates accepted")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
