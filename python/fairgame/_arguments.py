"""Arguments of the estimator and of the functions, checked and in the form that the library takes."""

from __future__ import annotations

import json
import numbers
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils import check_array, check_random_state
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, check_consistent_length, column_or_1d

from ._fairgame import Table, bytes_of
from ._table import back, column, is_columns, is_frame, table
from .rates import Constraint


def features(X: Any, estimator: Any) -> Any:
    """X as a frame, a table, or an array of numbers, possibly sparse, or of texts. Values may be missing, not infinite."""
    if is_columns(X) or isinstance(X, (str, os.PathLike)) or (is_frame(X) and not hasattr(X, "shape")):
        return table(X)
    if is_frame(X):
        return X
    if not hasattr(X, "dtype") and isinstance(X, Sequence) and np.asarray(X).dtype.kind in "US":
        X = np.asarray(X, dtype=object)  # Numbers of a list stay numbers beside texts.
    if _has_texts(X):
        return check_array(X, input_name="X", estimator=estimator, dtype=None, ensure_all_finite=False)
    numeric = {"accept_sparse": ["csr", "csc"], "ensure_all_finite": "allow-nan", "dtype": np.float64}
    return check_array(X, input_name="X", estimator=estimator, **numeric)


SLACK = 1e-9  # By how much rounding may put a probability outside [0, 1].


def probabilities(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities with rounding forgiven, and which of them are none."""
    wrong = ~((values >= -SLACK) & (values <= 1 + SLACK))
    return np.where(wrong, values, np.clip(values, 0.0, 1.0)), wrong


def _has_texts(X: Any) -> bool:
    """Whether an array holds texts, which become categories."""
    kind = getattr(getattr(X, "dtype", None), "kind", "")
    return kind in ("U", "S", "T") or kind == "O" and any(isinstance(one, str) for one in np.ravel(X))


def labels(y: Any, rows: int) -> np.ndarray:
    """One label per row, as an array of one type."""
    if y is None:
        raise ValueError("FairGameClassifier requires y to be passed, but the target y is None")
    missing = getattr(y, "isna", None) or getattr(y, "is_null", None)
    empty = missing is not None and np.asarray(missing()).any()
    # The values as they are: numpy would make numbers of pandas' nullable booleans.
    y = column_or_1d(np.array(y.to_list(), dtype=object) if hasattr(y, "to_list") else y, warn=True)
    check_consistent_length(y, range(rows))
    if not empty and y.dtype.kind in "fO":
        empty = any(label is None or label != label for label in y.tolist())
    if empty:
        raise ValueError("Input y contains NaN: every row needs a label")
    return np.array(y.tolist()) if y.dtype.kind == "O" and len(set(map(type, y))) == 1 else y


def two_classes(y: np.ndarray) -> np.ndarray:
    """The negative label and the positive one, which is the greater."""
    check_classification_targets(y)
    kind = type_of_target(y, input_name="y", raise_unknown=True)
    if kind != "binary":
        raise ValueError(f"Only binary classification is supported. The type of the target is {kind}.")
    classes = np.unique(y)
    if len(classes) < 2:
        raise ValueError(f"y has one class only, {classes.tolist()[0]!r}: there is nothing to learn")
    return classes


def weights(sample_weight: Any, rows: int) -> np.ndarray | None:
    """One weight per row, none negative; None if none were given."""
    if sample_weight is None:
        return None
    return _check_sample_weight(sample_weight, np.zeros((rows, 1)), dtype=np.float64, ensure_non_negative=True)


def units(unit: Any, rows: Table) -> Table | None:
    """The unit of each row as a table of one column: by the name of a column of these rows, or as an array."""
    if unit is None:
        return None
    if isinstance(unit, str):
        known = [name for name, _ in rows.columns]
        if unit not in known:
            raise ValueError(f"unit is {unit!r}, and there is no such column: name one of {known}, or give an array")
        return Table.from_columns([("unit", back(rows, unit))])
    found = Table.from_columns([("unit", column(column_or_1d(unit), "unit"))])
    if found.rows != rows.rows:
        raise ValueError(f"{found.rows} units are given for {rows.rows} rows")
    return found


def parts(given: Any, name: str, more: Sequence[str]) -> tuple:
    """X, y and the arguments called `more`, of a tuple that may leave the last ones out."""
    if not isinstance(given, (tuple, list)) or not 2 <= len(given) <= 2 + len(more):
        raise ValueError(f"{name} is (X, y), with {', '.join(more[:-1])} and {more[-1]} after them")
    return (*given, *[None] * len(more))[: 2 + len(more)]


def seed(random_state: Any) -> int:
    if random_state is None:
        return 0
    if isinstance(random_state, numbers.Integral):
        if random_state < 0:
            raise ValueError(f"a random_state of {random_state}: give one of at least 0")
        return int(random_state)
    if hasattr(random_state, "integers"):
        return int(random_state.integers(2**31 - 1))
    return int(check_random_state(random_state).randint(2**31 - 1))


def threads(n_jobs: int | None) -> int:
    """The number of threads as scikit-learn means it: None is 1, or what joblib's context says, and −1 is all."""
    if n_jobs == 0:
        raise ValueError("n_jobs is a number of threads, or -1 for all, and not 0")
    return int(effective_n_jobs(n_jobs))


def memory(given: Any) -> str | None:
    """A number of bytes, as the library reads it: 4000000000 or "4GB"."""
    if given is None:
        return None
    if isinstance(given, str):
        bytes_of(given)
        return given
    if isinstance(given, bool) or not isinstance(given, numbers.Integral) or given <= 0:
        raise ValueError(f'memory is {given!r}: give a number of bytes, or a text such as "4GB"')
    return str(int(given))


def constraint_texts(constraints: Any) -> list[str]:
    if isinstance(constraints, (str, bytes, Constraint)) or not isinstance(constraints, Iterable):
        raise ValueError(f"constraints is a list of texts or of constraints; this is {constraints!r}")
    return [str(one) for one in constraints]


def to_json(settings: Any) -> str:
    """Settings as JSON. They may hold numbers and arrays of numpy, and rates and constraints of `fairgame.rates`."""

    def plain(value: Any) -> Any:
        if isinstance(value, (np.generic, np.ndarray)):
            return value.tolist()
        if isinstance(value, Mapping):
            return dict(value)
        if hasattr(value, "_text"):
            return str(value)
        raise ValueError(f"settings: {value!r} is no number, text, list or dict")

    return json.dumps(settings, default=plain)
