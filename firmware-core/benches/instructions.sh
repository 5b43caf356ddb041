#!/bin/sh
# Counts the instructions of one step of the end-effector JOG, averaged over the recorded sequences, with valgrind's
# callgrind. The program's start and the reading of the files are subtracted: they are in both of two runs.
#
#   firmware-core/benches/instructions.sh [CEILING]
#
# Prints steps, instructions per step. Fails above CEILING (default 4000). Nanoseconds: cargo bench -p firmware-core
# --bench twist.
set -eu
cd "$(dirname "$0")/.."
command -v valgrind >/dev/null || { echo "instructions.sh needs valgrind: install it" >&2; exit 2; }
ceiling=${1:-4000}
files='tests/data/twist.csv tests/data/twist2.csv'
counts=$(mktemp -d)
trap 'rm -r "$counts"' EXIT

program=$(cargo build --quiet --release --example twist_steps --message-format=json |
    sed -n 's/.*"executable":"\([^"]*\/twist_steps\)".*/\1/p')
count() {
    valgrind --tool=callgrind --callgrind-out-file="$counts/$1" "$program" "$1" $files >"$counts/out" 2>"$counts/log" ||
        { cat "$counts/log" >&2; exit 1; }
    sed -n 's/^summary: //p' "$counts/$1"
}
once=$(count 1)
thrice=$(count 3)
steps=$(cut -d ' ' -f 1 "$counts/out")
mean=$(((thrice - once) / (2 * steps)))
echo "steps $steps, instructions per step $mean (ceiling $ceiling)"
test "$mean" -le "$ceiling"
