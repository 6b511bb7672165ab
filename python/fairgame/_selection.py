"""The selection of a policy, and the two of its settings that are arguments of their own: margin and deterministic."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any


def joined(selection: Any, margin: Any = None, deterministic: bool = False) -> Any:
    """The selection with this margin, and of one rule if it is to be deterministic. None leaves it to the recipe."""
    if margin is None and not deterministic:
        return selection
    asked = "margin" if margin is not None else "deterministic"
    short: dict[Any, dict[str, Any]] = {None: {}, "shrink": {}, "rule": {"deterministic": True}}
    if isinstance(selection, Mapping) and set(selection) == {"shrink"}:
        shrink = dict(selection["shrink"] or {})
    elif selection is None or isinstance(selection, str) and selection in short:
        shrink = dict(short[selection])
    else:
        raise ValueError(f"{asked} is of use with the selection `shrink` or `rule` only, and selection is {selection!r}")
    if margin is not None:
        if "margin" in shrink:
            raise ValueError("the margin is given twice: as margin, and in selection")
        shrink["margin"] = _number(margin)
    if deterministic:
        if not shrink.get("deterministic", True):
            raise ValueError("deterministic is True, and False in selection: give it once")
        shrink["deterministic"] = True
    return {"shrink": shrink}


def parted(selection: Any) -> tuple[Any, Any, bool]:
    """The selection without what is given by arguments of their own; its margin (None if it has none), and whether it
    is deterministic."""
    rest, margin = without_margin(selection)
    if rest == "rule":
        return None, margin, True
    if not isinstance(rest, Mapping) or "deterministic" not in (rest.get("shrink") or {}):
        return rest, margin, False
    shrink = dict(rest["shrink"])
    deterministic = bool(shrink.pop("deterministic"))
    return {"shrink": shrink}, margin, deterministic


def without_margin(selection: Any) -> tuple[Any, Any]:
    """The selection without its margin, and the margin; None if it has none."""
    if not isinstance(selection, Mapping) or "margin" not in (selection.get("shrink") or {}):
        return selection, None
    rest = dict(selection["shrink"])
    margin = rest.pop("margin")
    return {"shrink": rest}, margin


def _number(margin: Any) -> Any:
    """A margin whose text is a number as that number, as the command line takes it."""
    if isinstance(margin, str) and re.fullmatch(r"\s*-?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", margin):
        return float(margin)
    return margin
