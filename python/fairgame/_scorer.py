"""A score of scikit-learn for searches under constraints."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.utils.metadata_routing import UNUSED, _MetadataRequester

from . import _arguments, _fairgame
from ._align import aligned, check_order
from ._fairgame import Table, shown
from ._said import help_with_groups
from ._table import groups, table
from ._trained import Trained


ROUTED = (
    ". In a search they reach the score by sklearn.set_config(enable_metadata_routing=True) and"
    " scorer.set_score_request(sensitive_features=True)"
)


class Scorer(_MetadataRequester):
    """See `fairgame.scorer`."""

    # scikit-learn finds what it may route, for `set_score_request`, in the arguments of `score`.
    __metadata_request__score = {"estimator": UNUSED}

    def __init__(self, constraints: list[str], objective: str, penalty: float):
        self.constraints, self.objective, self.penalty = constraints, objective, penalty

    def score(
        self, estimator: Any, X: Any, y: Any, *, sensitive_features: Any = None, sample_weight: Any = None
    ) -> float:
        """Minus the objective, minus the penalty of the worst violation."""
        check_order(y, X)
        rows = table(X)
        y = _arguments.labels(y, rows.rows)
        weights = _arguments.weights(aligned(sample_weight, X, "sample_weight"), rows.rows)
        positive = _positive(estimator, y)
        more, name = groups(aligned(sensitive_features, X, "sensitive_features"), rows), "label"
        while name in [*(known for known, _ in rows.columns), *(known for known, _ in more)]:
            name += "_"
        rows = rows.beside(Table.from_columns([*more, (name, (y == positive).astype(np.int8))]))
        policy = {"label": f"{name} == true", "objective": self.objective, "constraints": self.constraints}
        with help_with_groups(ROUTED):
            found, _ = _fairgame.audit(_arguments.to_json(policy), rows, _decisions(estimator, X, positive), weights)
        found = json.loads(found)
        for one in [found["objective"], *found["constraints"]]:
            if one["value"] is None:
                raise ValueError(f"`{shown(one['name'])}` cannot be measured on these rows: {one['reason']}")
        worst = max((one["value"] for one in found["constraints"]), default=0.0)
        return float(-found["objective"]["value"] - self.penalty * max(worst, 0.0))

    __call__ = score

    def __repr__(self) -> str:
        return f"fairgame.scorer({self.constraints!r}, objective={self.objective!r}, penalty={self.penalty!r})"


def scorer(constraints: Iterable[Any], objective: Any = "error()", penalty: float = 1.0) -> Scorer:
    """A score for `GridSearchCV`, `cross_val_score` and so on, of any classifier; greater is better.

    It is minus the objective, minus `penalty` times the worst violation of a constraint. Decisions are those of
    `predict`; those of a `FairGameClassifier`, also at the end of a pipeline, count with their probabilities.

    Groups are columns of X, or `sensitive_features`, which scikit-learn routes to the score:
    `scorer(…).set_score_request(sensitive_features=True)`. So it does with `sample_weight`.

    If `penalty` is above the sum of the constraints' prices (`prices_`), no violation pays.

    >>> import fairgame, numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> X = np.linspace(-1, 1, 300).reshape(-1, 1)
    >>> y = X[:, 0] + np.sin(40 * X[:, 0]) > 0
    >>> bool((cross_val_score(LogisticRegression(), X, y, scoring=fairgame.scorer(["recall() >= 0.9"])) <= 0).all())
    True
    """
    texts = _arguments.constraint_texts(constraints)
    if not isinstance(penalty, (int, float, np.number)) or isinstance(penalty, bool) or not 0 <= penalty < np.inf:
        raise ValueError(f"penalty is a number of at least 0, and not {penalty!r}")
    # What is misspelt is refused here, and not after the first fit.
    _fairgame.check(_arguments.to_json({"label": "label", "objective": str(objective), "constraints": texts}))
    return Scorer(texts, str(objective), float(penalty))


def _positive(estimator: Any, y: np.ndarray) -> Any:
    """The positive label: the greater of those that the estimator was fitted on, or of these rows."""
    classes = getattr(estimator, "classes_", None)
    classes = np.unique(y) if classes is None else np.asarray(classes)
    if len(classes) > 2 or classes.ndim != 1:
        raise ValueError(f"the score is of two classes, and {type(estimator).__name__} has {len(classes)}")
    if unknown := set(y.tolist()) - set(classes.tolist()):
        text = shown(", ".join(sorted(map(str, unknown))))
        raise ValueError(f"y has labels that {type(estimator).__name__} was not fitted on: {text}")
    return classes.tolist()[-1]


def _decisions(estimator: Any, X: Any, positive: Any) -> np.ndarray:
    """The probability that each row is decided positive."""
    if isinstance(_last(estimator), Trained):
        return np.ascontiguousarray(estimator.predict_proba(X)[:, 1])
    decided = np.asarray(estimator.predict(X))
    if decided.ndim != 1:
        raise ValueError(f"predict of {type(estimator).__name__} has shape {decided.shape}: it must be one label a row")
    return (decided == positive).astype(np.float64)


def _last(estimator: Any) -> Any:
    """The estimator that decides: the last of a pipeline, or the best of a search."""
    while True:
        inner = getattr(estimator, "best_estimator_", None)
        if inner is None and getattr(estimator, "steps", None):
            inner = estimator.steps[-1][1]
        if inner is None:
            return estimator
        estimator = inner
