# make run    build and serve on the defaults: make run ARGS="--pose ready"
# make test   everything CI checks: formatting, lints, licences, tests, documentation
# make test-browser  the Playwright example in Debian's Chromium (part of make test)
# make test-xtensa  the core on the ESP32's instruction set: installs a toolchain, see firmware/README.md
# make firmware  the firmware as far as this machine can build it, see firmware/README.md
# make static, make static-aarch64  binaries without dependencies, see docs/packaging.md
# make test-aarch64  the Raspberry Pi build under emulation gives the same bytes: installs a cross compiler
# make bench  the figures of docs/performance.md on this machine

CARGO ?= cargo
PYTHON ?= python3
# Only apt-get below needs it; CI containers run as root without sudo.
SUDO := $(shell [ "$$(id -u)" = 0 ] || command -v sudo)

.PHONY: static static-aarch64 aarch64-tools test-aarch64 run build test test-browser browser check-format lint licences unit doc tools bench bench-serving clean test-xtensa firmware

run:
	$(CARGO) run --release --locked --bin atom-sim -- $(ARGS)

build:
	$(CARGO) build --release --locked

test: tools check-format lint licences unit doc test-browser

check-format:
	$(CARGO) fmt --all --check

lint:
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings

licences:
	$(PYTHON) tools/check_licences.py

unit:
	$(CARGO) test --workspace --locked
	cd firmware && $(CARGO) test --locked -p proof -p atom-board

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

# Chromium comes from the distribution, the test runner from package-lock.json; nothing else is downloaded.
test-browser: build browser
	cd examples/playwright && npm ci --no-audit --no-fund && npx playwright test

browser:
	@test -x "$${CHROMIUM:-/usr/bin/chromium}" \
		|| { command -v apt-get >/dev/null && $(SUDO) apt-get update -q && $(SUDO) apt-get install -qy --no-install-recommends chromium; } \
		|| { echo "make test-browser needs Chromium: install it, or name it in CHROMIUM" >&2; exit 1; }
	@command -v npm >/dev/null || { command -v apt-get >/dev/null && $(SUDO) apt-get install -qy npm; } \
		|| { echo "make test-browser needs npm: install it" >&2; exit 1; }

# On its own: needs Debian's Xtensa toolchain (installed if absent) and takes minutes.
test-xtensa:
	$(PYTHON) firmware/proof/prove.py

# As test-xtensa: the firmware for the ESP32-C3 as an image, the type check for the ESP32, sizes under ceilings.
firmware:
	$(PYTHON) firmware/build.py

# The C library goes into the binary.
STATIC_FLAGS := -C target-feature=+crt-static
HOST = $(shell rustc -vV | sed -n 's/^host: //p')

static:
	RUSTFLAGS="$(STATIC_FLAGS)" $(CARGO) build --release --locked --bin atom-sim --target $(HOST) --target-dir target/static

# Debian's Rust, not rustup's: it comes with a standard library for aarch64.
AARCH64 := aarch64-unknown-linux-gnu
AARCH64_BUILD := PATH=/usr/bin:/bin RUSTFLAGS="$(STATIC_FLAGS)" CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
	cargo build --locked --bin atom-sim --target $(AARCH64) --target-dir target/static

static-aarch64: aarch64-tools
	$(AARCH64_BUILD) --release

aarch64-tools:
	@command -v aarch64-linux-gnu-gcc >/dev/null && command -v qemu-aarch64 >/dev/null && test -x /usr/bin/cargo \
		&& dpkg -s libstd-rust-web-dev:arm64 >/dev/null 2>&1 \
		|| { $(SUDO) dpkg --add-architecture arm64 && $(SUDO) apt-get update -q && $(SUDO) apt-get install -qy --no-install-recommends \
			rustc-web cargo-web libstd-rust-web-dev:arm64 gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user; } \
		|| { echo "make test-aarch64 needs Debian's rustc-web, gcc-aarch64-linux-gnu and qemu-user: install them" >&2; exit 1; }

# Builds without optimized dependencies: the same results, in half the time.
test-aarch64: aarch64-tools
	$(CARGO) build --locked --bin atom-sim
	CARGO_PROFILE_DEV_DEBUG=0 $(AARCH64_BUILD)
	$(PYTHON) tools/compare_aarch64.py target/debug/atom-sim qemu-aarch64 target/static/$(AARCH64)/debug/atom-sim

# The last line counts instructions: it needs valgrind.
bench: bench-serving
	$(CARGO) bench --workspace --locked
	firmware-core/benches/instructions.sh

bench-serving: build
	$(PYTHON) tools/serving_figures.py target/release/atom-sim

clean:
	$(CARGO) clean
