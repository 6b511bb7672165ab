# `make test` is the one test command. It needs cargo, and installs what else it uses where that is
# missing: rustfmt and clippy through rustup, a C compiler (for zstd), and for the report's test in a
# browser Chromium and node, through apt. Where these cannot be had, or with FAIRGAME_SKIP_BROWSER=1, it
# goes without that test, and says so. Python's tests need a Python of 3.10 to 3.13, and packages from PyPI,
# which go into a virtual environment of their own under target/.
.PHONY: test setup fmt lint unit docs python python-imports bench browser-test test-torch

test: setup fmt lint unit docs python

setup:
	@cargo fmt --version >/dev/null 2>&1 || rustup component add rustfmt
	@cargo clippy --version >/dev/null 2>&1 || rustup component add clippy
	@command -v cc >/dev/null || (apt-get update && apt-get install -y gcc libc6-dev)
	@[ "$$FAIRGAME_SKIP_BROWSER" = 1 ] || crates/fairgame-report/browser/install || \
		echo "WARNING: no browser could be installed; the report's test in one is left out"

fmt:
	cargo fmt --all --check

lint:
	cargo clippy --workspace --all-targets --locked -- -D warnings

unit:
	[ -e crates/fairgame-report/browser/node_modules/.installed ] || export FAIRGAME_SKIP_BROWSER=1; \
	cargo test --workspace --locked

docs:
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked

# The wheel in a fresh virtual environment, and its tests there.
python:
	python/test

# The tests of modules of torch, which is several gigabytes and so is not installed by `make test`.
test-torch:
	python/test torch

# The wheel on every Python that is found.
python-imports:
	python/test imports

# The report's pages in a real browser; SCREENSHOTS=FOLDER leaves pictures there.
browser-test:
	crates/fairgame-report/browser/run

# Speed is measured, never asserted on.
bench:
	cargo bench --locked
