# `make test` is the one test command. It needs cargo, and installs what else it uses where that is
# missing: rustfmt and clippy through rustup, a C compiler (for zstd) through apt.
.PHONY: test setup fmt lint unit docs bench

test: setup fmt lint unit docs

setup:
	@cargo fmt --version >/dev/null 2>&1 || rustup component add rustfmt
	@cargo clippy --version >/dev/null 2>&1 || rustup component add clippy
	@command -v cc >/dev/null || (apt-get update && apt-get install -y gcc libc6-dev)

fmt:
	cargo fmt --all --check

lint:
	cargo clippy --workspace --all-targets --locked -- -D warnings

unit:
	cargo test --workspace --locked

docs:
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked

# Speed is measured, never asserted on.
bench:
	cargo bench --locked
