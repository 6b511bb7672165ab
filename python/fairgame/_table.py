"""Data of any kind as a table of the library: numpy, sparse, pandas, polars, pyarrow, or files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _times as times
from ._fairgame import Table, shown

# Above it, different integers may be the same float64.
EXACT = 2**53


def is_pandas(X: Any) -> bool:
    return type(X).__module__.partition(".")[0] == "pandas" and hasattr(X, "dtype" if hasattr(X, "cat") else "dtypes")


def is_columns(X: Any) -> bool:
    """Whether it is a dict of columns. Some sparse matrices are dicts too, but not of columns."""
    return isinstance(X, Mapping) and not hasattr(X, "tocsc")


def is_frame(X: Any) -> bool:
    """Whether each column has its own name and type."""
    return is_pandas(X) or hasattr(X, "__arrow_c_stream__") or isinstance(X, Table) or is_columns(X)


def table(X: Any, names: Sequence[str] = ()) -> Table:
    """The table of a frame, of an array whose columns are called `names`, or of the file at a path."""
    if isinstance(X, Table):
        return X
    if isinstance(X, (str, os.PathLike)):
        return Table.read([os.fspath(X)])
    if is_pandas(X):
        frame = X.to_frame() if X.ndim == 1 else X
        return Table.from_columns((str(name), column(frame.iloc[:, i], name)) for i, name in enumerate(frame.columns))
    if hasattr(X, "__arrow_c_stream__"):
        return Table.from_arrow(_without_nulls(X))
    if is_columns(X):
        return Table.from_columns((str(name), column(_one(values), name)) for name, values in X.items())
    if hasattr(X, "tocsc"):
        X = X.tocsc()
        take = lambda i: X[:, [i]].toarray().ravel()
    else:
        X = np.asarray(X)
        X = X.reshape(-1, 1) if X.ndim == 1 else X
        take = (lambda i: _parsed(X[:, i])) if X.dtype.kind in "UST" else lambda i: X[:, i]
    names = names or array_names(X.shape[1])
    return Table.from_columns((name, column(take(i), name)) for i, name in enumerate(names))


def _without_nulls(X: Any) -> Any:
    """A frame without polars' columns of type Null, which cannot be passed on as Arrow: they become strings."""
    if type(X).__module__.partition(".")[0] != "polars" or not hasattr(X, "schema"):
        return X
    import polars as pl

    empty = [name for name, kind in X.schema.items() if kind == pl.Null]
    return X.with_columns(pl.col(empty).cast(pl.String)) if empty else X


def array_names(count: int) -> list[str]:
    """What the columns of an array are called."""
    return [f"x{i}" for i in range(count)]


def column(values: Any, name: Any = "") -> Any:
    """A column in a form that the library takes: float64, int8 for booleans, or categories as codes and texts."""
    kind = str(getattr(values, "dtype", ""))
    if kind == "category":
        values = getattr(values, "cat", values)
        return np.ascontiguousarray(np.asarray(values.codes), dtype=np.int32), [_text(one) for one in values.categories]
    if kind == "boolean":
        return values.to_numpy(dtype=np.int8, na_value=-1)
    if kind.startswith(("Int", "UInt", "Float")):
        _check_exact(values[~values.isna()].to_numpy() if kind[0] != "F" else np.empty(0), name)
        return np.ascontiguousarray(values.to_numpy(dtype=np.float64, na_value=np.nan))
    if getattr(values, "dt", None) is not None and getattr(values.dtype, "tz", None) is not None:
        values = values.dt.tz_convert("UTC").dt.tz_localize(None)
    array = values.to_numpy() if hasattr(values, "to_numpy") else np.asarray(values)
    match array.dtype.kind:
        case "b":
            return np.ascontiguousarray(array, dtype=np.int8)
        case "i" | "u":
            _check_exact(array, name)
            return np.ascontiguousarray(array, dtype=np.float64)
        case "f":
            if np.isinf(array).any():
                raise ValueError(f"column `{shown(str(name))}` contains infinity")
            return np.asarray(array, dtype=np.float64)
        case "M":
            return times.column(array)
        case "O" | "U" | "T":
            return _objects(values if hasattr(values, "factorize") else array, name)
    raise ValueError(f"column `{shown(str(name))}` holds {array.dtype}: make numbers, truths or categories of it")


def _parsed(texts: np.ndarray) -> np.ndarray:
    """A column of an array of texts, for which numpy made texts of numbers too: numbers if all of them are."""
    texts = np.char.decode(texts, "utf-8") if texts.dtype.kind == "S" else texts
    try:
        return texts.astype(np.float64)
    except ValueError:
        return texts


def _check_exact(whole: np.ndarray, name: Any) -> None:
    if len(whole) and (whole.max() > EXACT or whole.min() < -EXACT):
        raise ValueError(
            f"column `{shown(str(name))}` has whole numbers beyond 2^53, which cannot be told apart as numbers: "
            "leave it out, or make it a category"
        )


def _objects(values: Any, name: Any) -> Any:
    """A column of objects: booleans or numbers if all of them are, and categories otherwise."""
    try:
        if hasattr(values, "factorize"):
            codes, held = values.factorize()
            held = list(held)
        else:
            places: dict[Any, int] = {}
            codes = [-1 if v is None or v != v else places.setdefault(v, len(places)) for v in values]
            held = list(places)
    except TypeError:
        raise ValueError(f"column `{shown(str(name))}` holds objects that are no numbers, truths or texts") from None
    codes = np.ascontiguousarray(codes, dtype=np.int32)
    if held and all(isinstance(value, (bool, np.bool_)) for value in held):
        return np.array([*map(int, held), -1], dtype=np.int8)[codes]
    if held and all(isinstance(value, (int, float, np.number)) for value in held):
        whole = [value for value in held if isinstance(value, (int, np.integer))]
        _check_exact(np.array(whole, dtype=object), name)
        return np.array([*map(float, held), np.nan])[codes]
    plain = (str, bool, int, float, np.generic, *times.KINDS)
    odd = next((value for value in held if not isinstance(value, plain)), None)
    if odd is not None:
        odd = f"objects, such as a {type(odd).__name__}"
        raise ValueError(f"column `{shown(str(name))}` holds {odd}: make texts or numbers of it")
    return codes, [_text(value) for value in held]


def _text(value: Any) -> str:
    """A value as the text of a category. Integers and booleans are written as in the language."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    if isinstance(value, (*times.KINDS, np.datetime64)):
        return times.text(value)
    return str(value)


def groups(sensitive: Any, rows: Table) -> list[tuple[str, Any]]:
    """The columns of `sensitive_features` that X does not have. A column that both have must be equal."""
    known = [name for name, _ in rows.columns]
    found = []
    for name, values in _groups(sensitive, known):
        if name not in known:
            found.append((name, values))
        elif not same(values, back(rows, name)):
            name = shown(str(name))
            raise ValueError(f"sensitive_features has a column `{name}` that X has too, with other values: rename one")
    return found


def same(a: Any, b: Any) -> bool:
    values = lambda c: [c[1][code] if code >= 0 else None for code in c[0]] if isinstance(c, tuple) else c
    a, b = values(a), values(b)
    if isinstance(a, list) or isinstance(b, list):
        return list(a) == list(b)
    return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")


def _groups(sensitive: Any, known: list[str]) -> list[tuple[str, Any]]:
    if sensitive is None:
        return []
    if isinstance(sensitive, str):
        sensitive = [sensitive]
    if isinstance(sensitive, (list, tuple)) and sensitive and all(isinstance(name, str) for name in sensitive):
        missing = next((name for name in sensitive if name not in known), None)
        if missing is None:
            return []
        if len(set(sensitive)) < len(sensitive) or len(sensitive) > len(known):
            sensitive = np.asarray(sensitive, dtype=object)  # A value for each row.
        else:
            names = ", ".join(map(shown, known))
            raise ValueError(f"sensitive_features: there is no column `{shown(missing)}` in X; it has {names}")
    if isinstance(sensitive, Mapping):
        return [(str(name), column(_one(values), name)) for name, values in sensitive.items()]
    if is_pandas(sensitive):
        frame = sensitive.to_frame() if sensitive.ndim == 1 else sensitive
        single = frame.shape[1] == 1
        name = lambda given: "group" if single and given in (None, 0) else str(given)
        return [(name(given), column(frame.iloc[:, i], given)) for i, given in enumerate(frame.columns)]
    if hasattr(sensitive, "to_frame") and hasattr(sensitive, "to_arrow"):  # A series of polars.
        sensitive = sensitive.alias(sensitive.name or "group").to_frame()
    if hasattr(sensitive, "__arrow_c_stream__") and hasattr(sensitive, "columns"):
        rows = table(sensitive)
        return [(name, back(rows, name)) for name, _ in rows.columns]
    array = np.asarray(sensitive)
    array = array.reshape(-1, 1) if array.ndim == 1 else array
    if array.ndim != 2:
        raise ValueError("sensitive_features is a column name, several, an array, a frame, or a dict of arrays")
    names = ["group"] if array.shape[1] == 1 else [f"group{i}" for i in range(array.shape[1])]
    return [(name, column(array[:, i], name)) for i, name in enumerate(names)]


def back(rows: Table, name: str) -> Any:
    """A column of a table, in the form that `Table.from_columns` takes."""
    values, texts = rows.column(name)
    return (values, texts) if values.dtype == np.int32 else values


def frame(rows: Table) -> Any:
    """A table as a frame of pandas."""
    import pandas as pd

    made = {}
    for name, kind in rows.columns:
        values, texts = rows.column(name)
        if values.dtype == np.int32:
            made[name] = pd.Categorical.from_codes(values, categories=texts)
        elif values.dtype == np.int8:
            missing = values < 0
            made[name] = pd.array(values > 0, dtype="boolean") if missing.any() else values > 0
            if missing.any():
                made[name][missing] = pd.NA
        else:
            made[name] = values
    return pd.DataFrame(made)


def _one(values: Any) -> Any:
    own = hasattr(values, "dtype") and not hasattr(values, "to_arrow")
    return values if own else np.asarray(values)
