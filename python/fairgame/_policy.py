"""Policies: mappings with the keys of a policy file, or the paths of such files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from . import _arguments, _selection


def text(policy: Mapping[str, Any] | str | os.PathLike[str], margin: Any = None) -> str:
    """A policy as JSON, with another margin if one is given."""
    policy = _file(policy) if isinstance(policy, (str, os.PathLike)) else policy
    if margin is not None:
        selection, _ = _selection.without_margin(policy.get("selection"))
        policy = {**policy, "selection": _selection.joined(selection, margin)}
    return _arguments.to_json(policy)


def of_audit(label: Any, objective: Any, constraints: Iterable[Any]) -> str:
    """What decisions of any origin are judged by, as JSON."""
    texts = _arguments.constraint_texts(constraints)
    return _arguments.to_json({"label": str(label), "objective": str(objective), "constraints": texts})


def _file(path: str | os.PathLike[str]) -> Any:
    try:
        import tomllib
    except ModuleNotFoundError:  # Python 3.10
        try:
            import tomli as tomllib
        except ModuleNotFoundError:
            raise ValueError("to read a policy file, Python 3.10 needs the package tomli; or give a dict") from None
    with open(path, "rb") as file:
        return tomllib.load(file)
