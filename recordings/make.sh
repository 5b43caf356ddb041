#!/bin/sh
# Makes the recordings anew: sh recordings/make.sh, with atom-sim on the PATH or in ATOM_SIM.
set -eu
atom_sim=${ATOM_SIM:-atom-sim}
cd "$(dirname "$0")"
work=$(mktemp -d)
serve() { # serve OPTIONS…: starts a simulator and sets $web and $udp
    rm -f "$work/ready"
    "$atom_sim" --port 0 --udp-port 0 --ready-file "$work/ready" --log warn "$@" >"$work/out" &
    server=$!
    while [ ! -s "$work/ready" ]; do sleep 0.1; done
    web=$(sed 's/.*"websocket":"\([^"]*\)".*/\1/' "$work/ready")
    udp=udp://$(sed 's/.*"udp":"\([^"]*\)".*/\1/' "$work/ready")
}
stop() { kill "$server"; wait "$server" || true; }

serve --plant measured --no-gripper
"$atom_sim" plan circle --out "$work/circle.csv"
"$atom_sim" play "$work/circle.csv" --atom "$web" --compensate lag --rate 100 --record circle.csv
"$atom_sim" signal chirp --joint 3 --amp 10 --f0 0.2 --f1 2 --duration 8 --atom "$web" --rate 100 --record chirp.csv
"$atom_sim" signal steps --joint 2 --amp 5 --duration 8 --atom "$web" --rate 100 --record steps.csv
stop

serve --plant measured --object -30 --record "$work/runs"
"$atom_sim" move 0,0,0,0,0,0,-45 --duration 1.5 --atom "$udp" --yes
stop
cp "$work/runs/run-001.csv" grasp.csv
rm -rf "$work"
