"""A progress bar without dependencies: one line on standard error."""

from __future__ import annotations

import sys
import time

AFTER = 2.0  # Seconds of training before "auto" shows a bar.


class Bar:
    def __init__(self, verbose: int | str):
        if verbose == "auto":
            self._shows, self._after = _watched(), AFTER
        elif isinstance(verbose, str):
            raise ValueError(f'verbose is a number or "auto", not {verbose!r}')
        else:
            self._shows, self._after = bool(verbose), 0.0
        self._start, self._shown = time.monotonic(), -1

    def __call__(self, turn: int, turns: int) -> None:
        spent, share = time.monotonic() - self._start, 100 * turn // max(turns, 1)
        if turns <= 0:
            return  # How many rows there are is not known yet.
        if self._shows and spent >= self._after and share != self._shown:
            self._shown = share
            left = spent * (turns - turn) / max(turn, 1)
            bar = "#" * (share * 24 // 100)
            print(f"\rfairgame [{bar:<24}] {share:3d} %, {left:.0f} s left ", end="", file=sys.stderr, flush=True)

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown >= 0:
            print(file=sys.stderr)


def _watched() -> bool:
    """Whether standard error is shown to someone: a terminal, or a notebook."""
    return "ipykernel" in sys.modules or bool(getattr(sys.stderr, "isatty", lambda: False)())
