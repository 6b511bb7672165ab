"""Series and frames of pandas beside a frame: their rows are found by the labels of its index."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._fairgame import shown


def aligned(values: Any, X: Any, name: str, of: str = "X") -> Any:
    """`values` in the order of the rows of X. Only an index of pandas says another order; other values stay.

    Messages call X as `of` says.
    """
    if isinstance(values, Mapping):
        return {key: aligned(one, X, f"{name}[{key!r}]", of) for key, one in values.items()}
    if not _indexed(X) or not _indexed(values) or values.index.equals(X.index):
        return values
    if not _same_labels(values.index, X.index):
        other = _differ(values.index, X.index)
        raise ValueError(f"{name} and {of} have indices with other labels ({other}): {_help(of)}")
    if not X.index.is_unique:
        raise ValueError(
            f"{name} and {of} have the labels of their indices in another order, and some repeat: {_help(of)}"
        )
    return values.loc[X.index]


def check_order(y: Any, X: Any) -> None:
    """Refuses a y whose index has the labels of X in another order. scikit-learn takes y by position, and so do we."""
    if not _indexed(X) or not _indexed(y) or y.index.equals(X.index):
        return
    if _same_labels(y.index, X.index):
        raise ValueError(
            "y has the labels of the index of X in another order, and rows of y are taken by position: give"
            " y.loc[X.index], or y.to_numpy() if the order is right"
        )


def _help(of: str) -> str:
    return f"give values with the index of {of}, or to_numpy() if they are in the order of {of}"


def _indexed(values: Any) -> bool:
    """Whether it is a series or a frame of pandas."""
    return type(values).__module__.partition(".")[0] == "pandas" and hasattr(values, "iloc")


def _same_labels(one: Any, other: Any) -> bool:
    if len(one) != len(other):
        return False
    if one.is_unique and other.is_unique:
        return bool(one.isin(other).all())
    return bool(one.value_counts().sort_index().equals(other.value_counts().sort_index()))


def _differ(one: Any, other: Any) -> str:
    """What is different about the labels of two indices."""
    if len(one) != len(other):
        return f"{len(one)} rows and {len(other)}"
    row = next((row for row, (a, b) in enumerate(zip(one, other)) if a != b), 0)
    names = (label.item() if hasattr(label, "item") else label for label in (one[row], other[row]))
    own, theirs = (shown(repr(label)) for label in names)
    return f"such as {own} and {theirs} in row {row}"
