"""What is said to the user: warnings, help with errors, and what training says of constraints."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any


class FairGameWarning(UserWarning):
    """What to know before trusting a classifier or a verdict."""


UNSEEN = (
    "must be of rows that their model was not trained on: otherwise they look better than they are, and the constraints"
    " will hold less often on new rows than is said here"
)
"""What everyone who brings scores has to know."""


@contextlib.contextmanager
def help_with_groups(more: str = "") -> Iterator[None]:
    """Adds to an error about a missing column how groups are given, and `more`."""
    try:
        yield
    except ValueError as error:
        if "there is no column" not in str(error):
            raise
        help = (
            "groups that are no columns of X are given as sensitive_features: an array of them is the column `group`, and"
            " a series has its own name"
        )
        raise ValueError(f"{error}\n  help: {help}{more}") from None


def by_constraint(constraints: list[str], values: list[float]) -> dict[str, float]:
    """The value of each constraint. Those of a constraint that is given twice add up."""
    found: dict[str, float] = {}
    for constraint, value in zip(constraints, values):
        found[constraint] = found.get(constraint, 0.0) + value
    return found


def enforcement(one: dict[str, Any]) -> dict[str, Any]:
    """What training says of a constraint, flat, so that a list of them makes a frame."""
    estimate = one["estimate"] or {}
    interval = estimate.get("interval") or {}
    return {
        "name": one["constraint"],
        **{key: one[key] for key in ("value", "optimism", "asked", "margin")},
        "estimate": estimate.get("value"),
        **{key: interval.get(key) for key in ("low", "high")},
        "standing": one["standing"],
    }
