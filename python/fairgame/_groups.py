"""How groups fare, as a frame."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._fairgame import Table, shown

_RATES = ["base_rate", "selection_rate", "tpr", "fpr", "precision", "error", "ratio", "ratio_to_highest", "auc"]
_VERDICTS = ["four_fifths", "four_fifths_of_all"]
_CONFUSION = ["true_positive", "false_positive", "false_negative", "true_negative"]


def groupings(by: Any) -> list[list[str]]:
    """Lists of columns, from a name or a list of names and lists of names."""
    if isinstance(by, str):
        return [[by]]
    try:
        return [[one] if isinstance(one, str) else [str(name) for name in one] for one in by]
    except TypeError:
        raise ValueError(f"by is the name of a column, or a list of names and lists of names: {by!r}") from None


def scores(given: Any, chances: np.ndarray, rows: Table) -> np.ndarray | None:
    """The scores of rows: a column, an array, or the chances where these are not all 0 or 1."""
    if given is None:
        return chances if np.any((chances > 0) & (chances < 1)) else None
    if isinstance(given, str):
        kinds = dict(rows.columns)
        if kinds.get(given, "number") != "number":
            raise ValueError(f"score: column `{shown(given)}` is a {kinds[given]}, and scores are numbers")
        if given not in kinds:
            names = ", ".join(shown(name) for name in kinds)
            raise ValueError(f"score: there is no column `{shown(given)}`; there are {names}")
        return np.asarray(rows.column(given)[0], dtype=np.float64)
    values = np.asarray(given, dtype=np.float64)
    if values.shape != (rows.rows,):
        raise ValueError(f"score has shape {values.shape}, and there are {rows.rows} rows")
    return values


def frame(found: dict[str, Any], notes: list[str]) -> Any:
    """A row for each group, the first of which is of all rows."""
    import pandas as pd

    columns = [name for one in found["groupings"] for name in one["by"]]
    columns = list(dict.fromkeys(columns))
    listed = [("all", [], found["all"])]
    listed += [(", ".join(one["by"]), one["by"], group) for one in found["groupings"] for group in one["groups"]]
    rows = []
    taken = {"by", "rows", "weight", "share", *_VERDICTS, *_CONFUSION}
    taken |= {rate + end for rate in _RATES for end in ("", "_low", "_high")}
    for name in columns:
        if name in taken:
            raise ValueError(f"the frame of groups has a column `{name}` of its own: rename the column that groups are by")
    for name, by, group in listed:
        values = dict(zip(by, group["values"]))
        row = {"by": name} | {column: values.get(column) for column in columns}
        row |= {key: group[key] for key in ("rows", "weight", "share")}
        for rate in _RATES:
            if group.get(rate) is not None:
                interval = group[rate].get("interval") or {}
                row[rate] = group[rate].get("value")
                row[f"{rate}_low"], row[f"{rate}_high"] = interval.get("low"), interval.get("high")
        row |= {key: group[key] for key in _VERDICTS}
        row |= {key: group["confusion"][key] for key in _CONFUSION if group["confusion"] is not None}
        rows.append(row)
    made = pd.DataFrame(rows)
    numbers = [name for name in made.columns if name not in ("by", *_VERDICTS, *columns)]
    made = made.astype({name: float for name in numbers if name != "rows"})
    # A column that a grouping does not have is not unknown there.
    of = {name: set(by) for name, by, _ in listed}
    for column in columns:
        outside = [column not in of[name] for name in made["by"]]
        made[column] = made[column].where(~np.array(outside), "")
        made[column] = made[column].astype(object).where(made[column].notna(), np.nan)
    made = made.set_index(["by", *columns])
    made.attrs = {"rows": found["rows"], "units": found["units"], "confidence": found["confidence"]}
    made.attrs |= {"drawn": found["drawn"], "warnings": list(notes)}
    return made
