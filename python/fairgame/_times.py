"""Dates and times as categories, in the texts that the library makes of Arrow's: `2024-02-29T08:30:00.250`.

A time with a zone is written in UTC. Fractions of a second have as many digits as they need, of 3, 6 or 9.
"""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np

KINDS = (datetime.date, datetime.time)
"""What Python has: a datetime is a date too."""


def column(array: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """A column of datetime64 as codes and texts; NaT is missing."""
    missing = np.isnat(array)
    distinct, places = np.unique(array[~missing], return_inverse=True)
    codes = np.full(len(array), -1, dtype=np.int32)
    codes[~missing] = places
    return codes, [_of_numpy(value) for value in distinct]


def text(value: Any) -> str:
    """A date, a time, or both."""
    if isinstance(value, np.datetime64):
        return _of_numpy(value)
    if isinstance(value, datetime.datetime):
        if value.tzinfo is not None:
            value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
        # pandas' own datetimes have nanoseconds too.
        nanoseconds = 1000 * value.microsecond + getattr(value, "nanosecond", 0)
        return str(value.isoformat(timespec="seconds")) + _fraction(nanoseconds)
    if isinstance(value, datetime.time):
        return value.replace(tzinfo=None).isoformat("seconds") + _fraction(1000 * value.microsecond)
    return str(value.isoformat())


def _of_numpy(value: np.datetime64) -> str:
    """A day, if its unit is one or longer, and otherwise a time to the nanosecond or coarser."""
    unit = np.datetime_data(value.dtype)[0]
    if unit in ("Y", "M", "W", "D"):
        return str(value.astype("datetime64[D]"))
    seconds = value.astype("datetime64[s]")
    if unit in ("h", "m", "s"):
        return str(seconds)
    # Rounded towards the past, so that the rest is not negative.
    seconds = np.datetime64(seconds - (seconds > value), "s")
    rest = (value - seconds).astype("timedelta64[ns]").astype(np.int64)
    return str(seconds) + _fraction(int(rest))


def _fraction(nanoseconds: int) -> str:
    for digits, unit in ((0, 10**9), (3, 10**6), (6, 10**3), (9, 1)):
        if nanoseconds % unit == 0:
            break
    return "" if digits == 0 else f".{nanoseconds // unit:0{digits}d}"
