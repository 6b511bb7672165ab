"""Decisions, evaluations and audits of Dask's data frames.

Each partition is worked on where it is. What crosses the network is the classifier on the way there, and sums on the way
back: a few kilobytes for each partition, whatever the number of its rows. The sums are exact, so the result is that of all
rows in one place, to the bit, however they are cut into partitions.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _arguments, _fairgame, _partitions
from ._estimator import FairGameClassifier
from ._evaluation import Evaluation
from ._said import FairGameWarning

__all__ = ["audit", "evaluate", "predict"]


def predict(classifier: FairGameClassifier | str | os.PathLike[str], ddf: Any, *, keys: str | None = None) -> Any:
    """Decides rows: a lazy Dask data frame with the columns `decision`, `probability` (of a positive decision) and `score`.

    It has the index and the partitions of `ddf`, and nothing is computed before it is asked for. `keys` names the column of
    identifiers that decisions are drawn by; without it they are drawn by the features, as `FairGameClassifier.predict`
    draws them.
    """
    import pandas as pd

    classifier = _loaded(classifier)
    _check(ddf)
    _check_columns(classifier.features_in_use_, keys, columns=list(ddf.columns))
    kind = np.asarray(classifier.classes_).dtype
    empty = {"decision": pd.Series(dtype=object if kind.kind in "US" else kind), "probability": 0.0, "score": 0.0}
    meta = pd.DataFrame({name: pd.Series(one, dtype=getattr(one, "dtype", float)) for name, one in empty.items()}).iloc[:0]
    return ddf.map_partitions(_partitions.decided, classifier, keys, meta=meta, enforce_metadata=False)


def evaluate(
    classifier: FairGameClassifier | str | os.PathLike[str],
    ddf: Any,
    *,
    sample_weight: str | None = None,
    unit: str | None = None,
    confidence: float = 0.95,
) -> Evaluation:
    """Evaluates a classifier on a Dask data frame that has the label and the groups as columns, as `fairgame.evaluate` does.

    `sample_weight` and `unit` name columns. It does not look for rows that training has seen.
    """
    classifier = _loaded(classifier)
    _check(ddf)
    _check_columns(sample_weight, unit, columns=list(ddf.columns))
    more = (classifier, sample_weight, unit, _fairgame.__version__)
    sums = _fairgame.Sums.of_classifier(classifier._classifier)
    return _judged(sums, ddf, _partitions.evaluated, more, confidence)


def audit(
    ddf: Any,
    predictions: str,
    *,
    label: str,
    constraints: Iterable[Any],
    objective: Any = "error()",
    positive: Any = None,
    sample_weight: str | None = None,
    unit: str | None = None,
    confidence: float = 0.95,
) -> Evaluation:
    """Evaluates decisions of any origin on a Dask data frame, as `fairgame.audit` does.

    `predictions`, `sample_weight` and `unit` name columns. Constraints with `quantile()` are refused: write the number.
    """
    _check(ddf)
    _check_columns(predictions, sample_weight, unit, columns=list(ddf.columns))
    texts = _arguments.constraint_texts(constraints)
    policy = _arguments.to_json({"label": str(label), "objective": str(objective), "constraints": texts})
    sums = _fairgame.Sums.of_policy(policy)
    more = (policy, predictions, str(label), positive, sample_weight, unit, _fairgame.__version__)
    return _judged(sums, ddf, _partitions.audited, more, confidence)


def _judged(sums: Any, ddf: Any, summed: Any, more: tuple, confidence: float) -> Evaluation:
    """What the sums of all partitions come to."""
    import dask

    parts = [dask.delayed(summed)(part, *more) for part in ddf.to_delayed()]
    for part in dask.compute(*parts):
        sums.merge(part)
    found, without_unit = sums.finish(confidence)
    notes = []
    if without_unit:
        notes.append(f"{without_unit} rows without a unit count as units of their own")
    for note in notes:
        warnings.warn(note, FairGameWarning, stacklevel=3)
    return Evaluation(json.loads(found), notes)


def _loaded(classifier: Any) -> FairGameClassifier:
    if isinstance(classifier, (str, os.PathLike)):
        classifier = FairGameClassifier.load(classifier)
    check_is_fitted(classifier)
    return classifier


def _check(ddf: Any) -> None:
    if not (hasattr(ddf, "map_partitions") and hasattr(ddf, "to_delayed") and hasattr(ddf, "columns")):
        raise ValueError(f"a data frame of Dask is needed, such as dask.dataframe.read_parquet(…), and not {type(ddf)}")


def _check_columns(*names: Any, columns: list[Any]) -> None:
    """Refuses columns that are not there, before any work."""
    for one in names:
        for name in one if isinstance(one, list) else [] if one is None else [one]:
            if name not in columns:
                raise ValueError(f"there is no column {name!r}: the columns are {columns}")
