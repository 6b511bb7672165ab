"""What is done with one partition of a distributed frame: the work of a worker, whichever engine sends it there."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _arguments, _decisions, _fairgame
from ._table import column, table

DECIDED = ("decision", "probability", "score")


def check_version(version: str) -> None:
    """Refuses to work for a process that has another version of this package."""
    if version != _fairgame.__version__:
        raise ValueError(
            f"a worker has fairgame {_fairgame.__version__}, and the client has {version}: install one version on all"
        )


class Shard:
    """Some of the rows of a training, which answer questions: an actor."""

    def __init__(self, named: list[tuple[int, str]], parts: list[Any], threads: int, version: str) -> None:
        check_version(version)
        runs = [(number, name, one if isinstance(one, str) else _checked(one, name)) for (number, name), one in zip(named, parts)]
        self._shard = _fairgame.Shard(runs, threads)

    def answer(self, questions: list[bytes]) -> bytes:
        """The answer to the last of the questions; those before are asked again of a shard that was lost."""
        answers = [self._shard.answer(question) for question in questions]
        return answers[-1]


def _checked(part: Any, name: str) -> Any:
    try:
        return table(part)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def decided(part: Any, model: Any, keys: str | None) -> Any:
    """The decision, its probability and the score of each row of a frame of pandas, under its index."""
    import pandas as pd

    rows = model._table(part)
    drawn = None if keys is None else _fairgame.Table.from_columns([("key", column(_values(part, keys), keys))])
    positive, chance, score = model._classifier.predict(rows, drawn)
    found = (model.classes_[positive.astype(int)], chance, score)
    return pd.DataFrame(dict(zip(DECIDED, found)), index=part.index)


def evaluated(part: Any, model: Any, weight: str | None, unit: str | None, version: str) -> bytes:
    """The sums of an evaluation over the rows of a frame."""
    check_version(version)
    sums = _fairgame.Sums.of_classifier(model._classifier)
    if len(part):
        rows = model._table(part)
        _, chance, _ = model._classifier.predict(rows)
        sums.add(rows, chance, _weights(part, weight), _arguments.units(unit, rows))
    return sums.to_bytes()


def audited(
    part: Any, policy: str, predictions: str, label: str, positive: Any, weight: str | None, unit: str | None, version: str
) -> bytes:
    """The sums of an audit over the rows of a frame."""
    check_version(version)
    sums = _fairgame.Sums.of_policy(policy)
    if len(part):
        rows = table(part)
        chances = _decisions.chances(_values(part, predictions), label, positive, rows)
        sums.add(rows, chances, _weights(part, weight), _arguments.units(unit, rows))
    return sums.to_bytes()


def _values(part: Any, name: str) -> Any:
    if name not in part.columns:
        raise ValueError(f"there is no column {name!r}: the columns are {list(part.columns)}")
    return part[name]


def _weights(part: Any, name: str | None) -> np.ndarray | None:
    return None if name is None else _arguments.weights(_values(part, name).to_numpy(), len(part))
