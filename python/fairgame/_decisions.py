"""Decisions of any origin as probabilities of a positive decision."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ._fairgame import Table, shown
from ._table import back

_CONDITION = re.compile(r"""\s*(`(?:[^`\\]|\\.)*`|[^\W\d][\w.]*)\s*==\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\s*""")
_ESCAPED = re.compile(r"\\(?:u\{([0-9a-fA-F]+)\}|(.))", re.DOTALL)


def chances(predictions: Any, label: str, positive: Any, rows: Table) -> np.ndarray:
    """The probability that each row is decided positive. Labels are 1 where they are the positive one."""
    values = np.asarray(predictions)
    if values.ndim != 1:
        raise ValueError(f"predictions are one number or label a row, and not of shape {values.shape}")
    texts = values.dtype.kind in "US" or any(isinstance(one, str) for one in values.tolist())
    if positive is None and not texts:
        try:
            return values.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"predictions are probabilities, truths or labels: {error}") from None
    held = values.tolist()
    if any(one is None or one != one for one in held):
        raise ValueError("predictions are missing for some rows: every row needs a decision")
    column, named = _positive(label)
    if positive is None and named is None:
        raise ValueError(
            f"predictions are texts, and the label `{shown(label)}` does not say which of them is the positive one: give"
            " it as positive=…"
        )
    wanted = named if positive is None else positive
    others = sorted({one for one in held if one != wanted}, key=str)
    known = _texts(rows, column)
    if positive is not None and wanted not in held and not _is_value(rows, column, wanted):
        raise ValueError(
            f"positive is {shown(repr(wanted))}, which is neither a prediction nor a value of the label's column"
        )
    if texts and known is not None:
        if strange := [one for one in others if one not in known]:
            name = shown(str(column))
            raise ValueError(f"predictions hold {shown(repr(strange[0]))}, which is no value of column `{name}`")
    elif len(others) > 1:
        some = ", ".join(shown(repr(one)) for one in others[:3])
        raise ValueError(f"predictions hold {some} beside {shown(repr(wanted))}: give two labels only")
    return np.array([float(one == wanted) for one in held])


def _positive(label: str) -> tuple[str | None, str | None]:
    """The column and the text of a label that is `column == "text"`; None of another one."""
    found = _CONDITION.fullmatch(label)
    if found is None:
        return None, None
    column, text = found.groups()
    return (_plain(column[1:-1]) if column[0] == "`" else column), _plain(text[1:-1])


def _plain(text: str) -> str:
    """A text of the language without its escapes."""
    letters = {"n": "\n", "t": "\t", "r": "\r"}
    return _ESCAPED.sub(lambda m: chr(int(m[1], 16)) if m[1] else letters.get(m[2], m[2]), text)


def _is_value(rows: Table, column: str | None, value: Any) -> bool:
    """Whether a column has this value. If the label is of no column that is known, anything may be one."""
    if column not in [name for name, _ in rows.columns]:
        return column is None
    values = back(rows, column)
    found = values[1] if isinstance(values, tuple) else np.unique(values).tolist()
    return value in found


def _texts(rows: Table, column: str | None) -> set[str] | None:
    """The values of a column of categories; None if it is not known to be one."""
    if column not in [name for name, _ in rows.columns]:
        return None
    values = back(rows, column)
    return set(values[1]) if isinstance(values, tuple) else None
