"""Rows that a cluster has: whose frames they are, and which columns they have."""

from __future__ import annotations

from typing import Any


def engine_of(X: Any) -> Any:
    """The module whose frames or datasets these are; none of rows in one place."""
    if hasattr(X, "map_partitions") and hasattr(X, "to_delayed") and hasattr(X, "columns"):
        from . import dask as engine
    elif hasattr(X, "map_batches") and hasattr(X, "to_pandas_refs"):
        from . import ray as engine
    else:
        return None
    return engine


def check_columns(*names: Any, columns: list[Any]) -> None:
    """Refuses columns that are not there, before any work."""
    for one in names:
        for name in one if isinstance(one, list) else [] if one is None else [one]:
            if name not in columns:
                raise ValueError(f"there is no column {name!r}: the columns are {columns}")
