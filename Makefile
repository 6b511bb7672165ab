# `make test` is the one test command; it needs cargo with rustfmt and clippy, and nothing else.
.PHONY: test fmt lint unit docs bench

export RUSTFLAGS ?=

test: fmt lint unit docs

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
