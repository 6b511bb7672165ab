"""The evaluation of decisions on rows: rates, constraints, verdicts."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import Any

from ._fairgame import printable


class Evaluation:
    """Rates and constraints with confidence intervals.

    `constraints` and `rates` are lists of dicts with the keys `name`, `value`, `low`, `high` and `reason` (why there
    is no value, or None). A constraint also has its `verdict`, and a rate its number of `rows`. The value of a
    constraint is its loss on these rows: there the constraint holds if the loss is at most 0. If it is undecided,
    `rows_to_decide` is about how many rows like these would decide it at this value, or None if no number would.
    `to_pandas()` makes a frame of both lists.

    If a constraint is undecided, `margin_to_meet` is the `margin` to train with, so that an evaluation like this one
    is likely to say met; it is None for audits. `units` is the number of units, or None if rows are independent.

    `base_rate` is the share of the rows that are positive: deciding every row negative has this error.

    `drawn` is the share of the rows that are decided by a draw: their probability of a positive decision is neither 0
    nor 1.

    `verdict` is `"met"`, `"violated"` or `"undecided"`, for all constraints together at the level `confidence`.
    """

    def __init__(self, found: dict[str, Any], warnings: Iterable[str] = ()):
        self.rows: int = found["rows"]
        self.units: int | None = found.get("units")
        self.confidence: float = found["confidence"]
        self.verdict: str = found["verdict"]
        self.error: float | None = found["error"]
        self.positive_rate: float | None = found["positive_rate"]
        self.base_rate: float | None = found.get("base_rate")
        self.drawn: float | None = found.get("drawn")
        self.objective: dict[str, Any] = _row(found["objective"], "name")
        self.constraints: list[dict[str, Any]] = [
            _row(one, "name") | {"verdict": one["verdict"], "rows_to_decide": one.get("rows_to_decide")}
            for one in found["constraints"]
        ]
        rates = [rate for one in found["constraints"] for rate in one["rates"]]
        unique = {rate["text"]: _row(rate, "text") | {"rows": rate["rows"]} for rate in rates}
        self.rates: list[dict[str, Any]] = list(unique.values())
        self.margin_to_meet: str | None = found.get("margin_to_meet")
        self.warnings: list[str] = list(warnings)

    @property
    def met(self) -> bool:
        """Whether all constraints together are met, at the level `confidence`."""
        return self.verdict == "met"

    @property
    def worst(self) -> float | None:
        """The largest loss of any constraint; None if none can be measured."""
        return max((one["value"] for one in self.constraints if one["value"] is not None), default=None)

    def to_pandas(self) -> Any:
        """The constraints and the rates as one frame."""
        import pandas as pd

        rows = [one | {"is": "constraint"} for one in self.constraints] + [one | {"is": "rate"} for one in self.rates]
        columns = ["is", "name", "value", "low", "high", "rows", "verdict", "reason"]
        return pd.DataFrame(rows, columns=columns)

    def __repr__(self) -> str:
        lines = [self._heading()]
        lines += [f"  {printable(one['name'])}: {_shown(one)} {_verdict(one)}".rstrip() for one in self._all()]
        lines += [f"  note: {printable(warning)}" for warning in self.warnings]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        def row(*cells: object, tag: str = "td") -> str:
            return "<tr>" + "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"

        head = row("", "value", f"interval at {100 * self.confidence:g} %", "verdict", tag="th")
        body = "".join(row(one["name"], _value(one), _interval(one), _verdict(one)) for one in self._all())
        notes = "".join(f"<p>{html.escape(warning)}</p>" for warning in self.warnings)
        return f"<table><caption>{html.escape(self._heading())}</caption>{head}{body}</table>{notes}"

    def _heading(self) -> str:
        if not self.constraints:
            return f"{self.rows} rows; there are no constraints"
        rows = f"{self.rows} rows" if self.units is None else f"{self.rows} rows of {self.units} units"
        return f"{rows}: {self.verdict} at a confidence of {100 * self.confidence:g} %"

    def _all(self) -> list[dict[str, Any]]:
        return [self.objective, *self.constraints]


def _row(found: dict[str, Any], name: str) -> dict[str, Any]:
    interval = found.get("interval") or {}
    return {
        "name": found[name],
        "value": found.get("value"),
        "low": interval.get("low"),
        "high": interval.get("high"),
        "reason": found.get("reason"),
    }


def _shown(one: dict[str, Any]) -> str:
    return f"{_value(one)} {_interval(one)}".rstrip()


def _verdict(one: dict[str, Any]) -> str:
    needed = one.get("rows_to_decide")
    return one.get("verdict", "") + (f" (about {needed:,} rows like these would decide it)" if needed else "")


def _value(one: dict[str, Any]) -> str:
    return printable(str(one["reason"])) if one["value"] is None else f"{one['value']:.4f}"


def _interval(one: dict[str, Any]) -> str:
    return "" if one["low"] is None else f"[{one['low']:.4f}, {one['high']:.4f}]"
