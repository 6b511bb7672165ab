"""How much each column of X counts for a wrapped estimator.

Gain is what the estimator itself says (`feature_importances_`). Permutation is by how much the objective and each
constraint rise on held-out rows if the values of a column are dealt out among them at random. Each row is scored by the
estimator of the fold that it judges, which was not fitted on it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import _safe_indexing

from ._fairgame import Classifier, Table
from ._wrapped import Scores, scores_of

MOST_ROWS = 4096  # At most so many rows have their values dealt out,
MOST_COLUMNS = 200  # of at most so many columns,
MOST_SCORES = 100_000  # for at most so many scores in all.


def gains(estimators: Sequence[Any], columns: int) -> np.ndarray | None:
    """The estimators' own importances of the columns, as shares and on average; None if they have none of these."""
    found = []
    for one in estimators:
        own = getattr(one, "feature_importances_", None)
        own = None if own is None else np.asarray(own, dtype=np.float64)
        if own is None or own.shape != (columns,) or not np.isfinite(own).all() or own.sum() <= 0:
            return None
        found.append(own / own.sum())
    return np.mean(found, axis=0)


def importance(
    scores: Scores,
    classifier: Classifier,
    columns: Sequence[str],
    X: Any,
    rows: Table,
    judged: Sequence[np.ndarray],
    weights: np.ndarray | None,
    seed: int,
) -> list[dict[str, Any]]:
    """How much each column of X counts, the one that counts most first. `judged` are the rows of each estimator."""
    own = gains(scores.estimators, len(columns))
    found = [
        {"column": name, "gain": None if own is None else float(own[at]), "objective": None, "constraints": []}
        for at, name in enumerate(columns)
    ]
    # A column of a sparse matrix is mostly zeros, and there may be very many.
    if not issparse(X) and len(columns) <= MOST_COLUMNS:
        excerpt = _Excerpt(scores, classifier, X, rows, judged, weights, len(columns), seed)
        before = excerpt.losses(excerpt.X)
        for at, one in enumerate(found):
            after = excerpt.losses(excerpt.dealt_out(at))
            one["objective"], one["constraints"] = float(after[0] - before[0]), (after[1:] - before[1:]).tolist()
    return sorted(found, key=lambda one: -(one["gain"] if own is not None else one["objective"] or 0.0))


class _Excerpt:
    """Some held-out rows, and what the classifier comes to on them with other values of X."""

    def __init__(
        self,
        scores: Scores,
        classifier: Classifier,
        X: Any,
        rows: Table,
        judged: Sequence[np.ndarray],
        weights: np.ndarray | None,
        columns: int,
        seed: int,
    ) -> None:
        self._rng = np.random.default_rng(seed)
        fold_of = np.zeros(rows.rows, dtype=np.intp)
        for fold, own in enumerate(judged):
            fold_of[own] = fold
        count = min(rows.rows, MOST_ROWS, max(1, MOST_SCORES // max(1, columns)))
        taken = np.sort(self._rng.choice(rows.rows, size=count, replace=False))
        self._scores, self._classifier, self._fold_of = scores, classifier, fold_of[taken]
        self._rows = rows.take(taken.astype(np.uint32))
        self._weights = None if weights is None else np.ascontiguousarray(weights[taken], dtype=np.float64)
        self.X = _safe_indexing(X, taken)

    def losses(self, X: Any) -> np.ndarray:
        """The objective and the loss of each constraint."""
        scores, groups = self._scores, self._scores.groups
        count = len(self._fold_of)
        score, sums = np.empty(count), np.empty((0 if groups is None else len(groups.sets), count))
        for fold in np.unique(self._fold_of):
            own = np.flatnonzero(self._fold_of == fold)
            some = _safe_indexing(X, own)
            score[own] = scores_of(scores.estimators[fold % len(scores.estimators)], some, scores.positive)
            if groups is not None:
                sums[:, own] = groups._sums(groups.estimators[fold], some)
        # All folds are given the score of the fold that a row judges: the others have learnt from it.
        held = [(name, score) for name in scores.columns]
        if groups is not None:
            held += [(name, sums[at % len(sums)]) for at, name in enumerate(groups.columns)]
        found = json.loads(self._classifier.evaluate(self._rows.beside(Table.from_columns(held)), self._weights)[0])
        values = [found["objective"], *found["constraints"]]
        return np.array([one["value"] if one["value"] is not None else np.nan for one in values])

    def dealt_out(self, column: int) -> Any:
        """X with the values of a column in a random order."""
        order, X = self._rng.permutation(len(self._fold_of)), self.X
        if hasattr(X, "iloc"):
            X = X.copy()
            X.isetitem(column, X.iloc[order, column].set_axis(X.index))
            return X
        if hasattr(X, "with_columns"):
            return X.with_columns(X.to_series(column).gather(order))
        X = np.array(X, copy=True)
        X[:, column] = X[order, column]
        return X
