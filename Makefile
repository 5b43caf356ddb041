# make run    build and serve on the defaults: make run ARGS="--pose ready"
# make test   everything CI checks: formatting, lints, licences, tests, documentation
# make test-xtensa  the core on the ESP32's instruction set: installs a toolchain, see firmware/README.md
# make bench  the figures of docs/performance.md on this machine

CARGO ?= cargo
PYTHON ?= python3
# Only apt-get below needs it; CI containers run as root without sudo.
SUDO := $(shell [ "$$(id -u)" = 0 ] || command -v sudo)

.PHONY: run build test check-format lint licences unit doc tools bench clean test-xtensa

run:
	$(CARGO) run --release --locked --bin atom-sim -- $(ARGS)

build:
	$(CARGO) build --release --locked

test: tools check-format lint licences unit doc

check-format:
	$(CARGO) fmt --all --check

lint:
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings

licences:
	$(PYTHON) tools/check_licences.py

unit:
	$(CARGO) test --workspace --locked
	cd firmware && $(CARGO) test --locked -p proof

doc:
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked

# The tests run example clients: Python 3 (standard library only) and Node 20 or later. Installed if absent.
tools:
	@command -v $(PYTHON) >/dev/null || { command -v apt-get >/dev/null && $(SUDO) apt-get update -q && $(SUDO) apt-get install -qy python3; } \
		|| { echo "make test needs python3: install it" >&2; exit 1; }
	@command -v node >/dev/null || { command -v apt-get >/dev/null && $(SUDO) apt-get update -q && $(SUDO) apt-get install -qy nodejs; } \
		|| { echo "make test needs Node.js 20 or later: install it" >&2; exit 1; }
	@node -e 'process.exit(parseInt(process.versions.node) >= 20 ? 0 : 1)' \
		|| { echo "make test needs Node.js 20 or later, found $$(node --version)" >&2; exit 1; }

# On its own: needs Debian's Xtensa toolchain (installed if absent) and takes minutes.
test-xtensa:
	$(PYTHON) firmware/proof/prove.py

bench: build
	$(PYTHON) tools/serving_figures.py target/release/atom-sim

clean:
	$(CARGO) clean
