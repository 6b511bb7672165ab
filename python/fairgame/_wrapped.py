"""Estimators of other libraries in the plug-in game: one fit per fold, whose scores become columns of the table."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn import get_config
from sklearn.base import clone, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from ._arguments import probabilities
from ._fairgame import Table, shown

SLACK = 1e-6  # By how much rounding may put a sum of probabilities above 1.
SCORES = ("predict_proba", "decision_function")


@dataclass(frozen=True, eq=False)
class Groups:
    """The probabilities of groups that features do not tell, as estimators of another library give them.

    What features do not tell of a row, its label and such groups together, is its *pattern*. An estimator learns the
    pattern of each row as its class, once for each fold, and a group's probability is a sum over patterns.
    """

    estimators: tuple[Any, ...]
    """One for each fold."""
    columns: tuple[str, ...]
    """The names of the columns of probabilities: fold by fold, one for each set."""
    sets: tuple[tuple[int, ...], ...]
    """The patterns that each probability is the sum of."""

    def of(self, X: Any) -> list[tuple[str, np.ndarray]]:
        """The columns of probabilities of rows."""
        found = [sums for one in self.estimators for sums in self._sums(one, X)]
        return list(zip(self.columns, found))

    def _sums(self, estimator: Any, X: Any) -> list[np.ndarray]:
        name = f"predict_proba of the group_estimator {type(estimator).__name__}"
        chances, classes = np.asarray(estimator.predict_proba(X), dtype=np.float64), list(estimator.classes_)
        if chances.ndim != 2 or chances.shape[1] != len(classes):
            raise ValueError(f"{name} has shape {chances.shape}, and it was fitted on {len(classes)} classes")
        wrong = ~(np.isfinite(chances) & (chances >= 0) & (chances <= 1 + SLACK)).all(axis=1)
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            raise ValueError(f"{name} gives row {row} the probabilities {chances[row]}, which are none")
        total = np.maximum(chances.sum(axis=1), 1e-300)
        member = [[pattern in one for pattern in classes] for one in self.sets]
        return [np.clip(chances[:, own].sum(axis=1) / total, 0.0, 1.0) for own in member]


@dataclass(frozen=True, eq=False)
class Scores:
    """The columns of scores that fitted estimators give rows."""

    estimators: tuple[Any, ...]
    """One for each fold, or a single one that was fitted before on other rows."""
    columns: tuple[str, ...]
    """The names of the columns of scores, one for each estimator."""
    positive: Any
    """The label whose score is taken."""
    taught: bool
    """Whether rows of the training have taught the estimators."""
    groups: Groups | None = None
    """The probabilities of groups, if another library gives these, too."""
    ignored: tuple[str, ...] = ()
    """The columns of X that are no features: the estimators do not see them."""

    @property
    def model(self) -> dict[str, Any]:
        """The scores as the model of a policy."""
        scale = "probability" if hasattr(self.estimators[0], "predict_proba") else "log_odds"
        scores: dict[str, Any] = {"columns": list(self.columns), "taught": self.taught, "scale": scale}
        if self.groups is not None:
            scores["groups"] = list(self.groups.columns)
        return {"scores": scores}

    @property
    def held(self) -> tuple[Any, ...]:
        """All fitted estimators, as they are saved."""
        return (*self.estimators, *(() if self.groups is None else self.groups.estimators))

    @classmethod
    def of_file(cls, estimators: Sequence[Any], described: Mapping[str, Any]) -> Scores:
        """The scores of estimators that were saved beside a model file, which says what their columns are called."""
        settings, sets = described["settings"]["model"]["scores"], described["companion"].get("groups", [])
        columns, of_groups = tuple(settings["columns"]), tuple(settings.get("groups", []))
        folds = len(of_groups) // len(sets) if sets else 0
        if len(estimators) != len(columns) + folds:
            raise ValueError(f"{len(estimators)} estimators are saved for {len(columns) + folds} columns and folds")
        own, others = tuple(estimators[: len(columns)]), tuple(estimators[len(columns) :])
        groups = Groups(others, of_groups, tuple(map(tuple, sets))) if sets else None
        labels, ignored = described["labels"], tuple(described["companion"].get("ignored", ()))
        return cls(own, columns, labels[1] if labels else True, settings["taught"], groups, ignored)

    @property
    def estimator(self) -> Any:
        """What was wrapped: an estimator to fit, or the one that was fitted before."""
        return clone(self.estimators[0]) if self.taught else self.estimators[0]

    def beside(self, rows: Table, X: Any, apart: bool = False) -> Table:
        """The rows with the scores of X beside them. If they must be told `apart`, equal scores of all are refused.

        X has the features only.
        """
        scores = [(name, scores_of(one, X, self.positive)) for name, one in zip(self.columns, self.estimators)]
        for (_, found), one in zip(scores, self.estimators):
            if apart and len(found) > 1 and found.min() == found.max():
                said = "it ignores the columns, so that no rule can tell rows apart"
                raise ValueError(f"{type(one).__name__} gives all rows the score {found[0]}: {said}")
        more = [] if self.groups is None else self.groups.of(X)
        return rows.beside(Table.from_columns([*scores, *more]))


def check(estimator: Any, weighted: bool, prefit: bool) -> None:
    """Refuses what cannot give scores, or cannot take weights, before anything is fitted."""
    name = type(estimator).__name__
    if isinstance(estimator, type):
        raise ValueError(f"estimator is the class {estimator.__name__}: give an instance, {estimator.__name__}()")
    if estimator == "prefit":
        raise ValueError('estimator is "prefit": give the fitted estimator itself, and prefit=True')
    if prefit:
        try:
            check_is_fitted(estimator)
        except NotFittedError:
            said = f"prefit=True, and {name} is not fitted: fit it, or leave prefit out"
            more = "clone makes unfitted copies; give FrozenEstimator(estimator), which it leaves as it is"
            raise ValueError(f"{said}\n  help: {more}") from None
    elif not hasattr(estimator, "fit"):
        raise ValueError(f"estimator is {estimator!r}, which has no fit")
    if is_regressor(estimator):
        raise ValueError(f"{name} is a regressor: give a classifier, whose score says how likely the label is")
    # Some have scores only once they are fitted, such as a StackingClassifier.
    if prefit:
        check_scores(estimator)
    if weighted and not prefit:
        _refuse_weights(estimator, "")


def check_scores(estimator: Any) -> None:
    """Refuses a fitted estimator that gives no scores."""
    if not any(hasattr(estimator, method) for method in SCORES):
        raise ValueError(
            f"{type(estimator).__name__} has neither predict_proba nor decision_function, and a rule needs a score for"
            " each row: use a classifier that has one of them, or set the parameter that gives it one"
        )


def weight_name(estimator: Any) -> str | None:
    """What `fit` calls the weights of rows: those of a pipeline are its last step's. None if it takes none."""
    if has_fit_parameter(estimator, "sample_weight"):
        return "sample_weight"
    if get_config().get("enable_metadata_routing") and hasattr(estimator, "get_metadata_routing"):
        return "sample_weight"  # scikit-learn itself says whether somebody takes them.
    if isinstance(estimator, Pipeline):
        step, last = estimator.steps[-1]
        inner = weight_name(last)
        return None if inner is None else f"{step}__{inner}"
    fit = inspect.signature(estimator.fit).parameters.values()
    if not any(one.kind is inspect.Parameter.VAR_KEYWORD for one in fit):
        return None
    if hasattr(estimator, "estimator"):  # A search hands its arguments on.
        return weight_name(estimator.estimator)
    others = getattr(estimator, "estimators", None)
    names = {weight_name(one) for _, one in others if hasattr(one, "fit")} if isinstance(others, list) else set()
    return "sample_weight" if names <= {"sample_weight"} else None


def _refuse_weights(estimator: Any, role: str) -> None:
    if weight_name(estimator) is None:
        raise ValueError(
            f"sample_weight is given, and fit of {role}{type(estimator).__name__} does not take one: leave the weights"
            " out, or use an estimator that takes them"
        )


def has_probabilities(estimator: Any) -> bool:
    """Whether its scores are known to be probabilities before it is fitted."""
    return hasattr(estimator, "predict_proba")


def check_columns(estimator: Any, columns: Sequence[str], ignored: Sequence[str], named: bool) -> None:
    """Refuses an estimator that was fitted before on other columns than these."""
    name, count = type(estimator).__name__, getattr(estimator, "n_features_in_", None)
    if count is not None and count != len(columns):
        without = f" without {shown(', '.join(ignored))}, which are no features" if ignored else ""
        raise ValueError(
            f"{name} was fitted on {count} columns, and X has {len(columns)}{without}: give the columns of its fit"
        )
    known = getattr(estimator, "feature_names_in_", None)
    if named and known is not None and list(known) != list(columns):
        other = next(one for one, own in zip(columns, known) if one != own)
        where = "stands elsewhere there" if other in known else "is none of them"
        raise ValueError(
            f"{name} was fitted on other columns than those of X: `{shown(str(other))}` {where}. It was fitted on"
            f" {shown(', '.join(map(str, known)))}"
        )


def check_groups(estimator: Any, weighted: bool) -> None:
    """Refuses a group_estimator that cannot give probabilities, before anything is fitted."""
    name = type(estimator).__name__
    if isinstance(estimator, type):
        raise ValueError(f"group_estimator is the class {estimator.__name__}: give an instance, {estimator.__name__}()")
    if not hasattr(estimator, "fit"):
        raise ValueError(f"group_estimator is {estimator!r}, which has no fit")
    if not hasattr(estimator, "predict_proba"):
        raise ValueError(f"group_estimator {name} has no predict_proba: wrap it in CalibratedClassifierCV")
    if weighted:
        _refuse_weights(estimator, "the group_estimator ")


def fit_folds(
    estimator: Any, X: Any, y: np.ndarray, weights: np.ndarray | None, taught: Sequence[np.ndarray], n_jobs: int | None
) -> tuple[Any, ...]:
    """The estimator, fitted once for each fold on the rows that teach there."""

    def fit(rows: np.ndarray) -> Any:
        one, more, rows = clone(estimator), {}, np.asarray(rows, dtype=np.intp)
        if weights is not None and (name := weight_name(one)) is not None:
            more[name] = weights[rows]
        try:
            return one.fit(_safe_indexing(X, rows), y[rows], **more)
        except ValueError as error:
            if set(np.unique(y).tolist()) <= {0, 1}:
                raise
            # XGBoost, for one, takes no texts.
            said = f"{type(one).__name__} cannot be fitted: {error}"
            raise ValueError(f"{said}\n  help: if it is about the labels, give 0 and 1 as labels") from error

    first: list[Any] = []
    if not any(hasattr(estimator, method) for method in SCORES):
        first = [fit(taught[0])]  # Only now it can be known whether it gives scores.
        check_scores(first[0])
    rest = Parallel(n_jobs=n_jobs)(delayed(fit)(rows) for rows in taught[len(first) :])
    return (*first, *rest)


def columns_of(X: Any, columns: Sequence[str], ignored: Sequence[str]) -> Any:
    """X, which has these columns, without those that are no features."""
    if not ignored:
        return X
    return _safe_indexing(X, [at for at, name in enumerate(columns) if name not in ignored], axis=1)


def features_of(data: Any, columns: Sequence[str], named: bool) -> Any:
    """The columns that estimators were fitted on, taken out of a frame that also has the label and the groups."""
    library = type(data).__module__.partition(".")[0]
    if library not in ("pandas", "polars") or not hasattr(data, "columns"):
        raise ValueError(
            "an estimator of another library decides, and it needs its columns as a frame: give a frame of pandas or"
            " polars, or use classifier.evaluate(X, y)"
        )
    if missing := [name for name in columns if name not in data.columns]:
        more = "" if named else "; it was fitted on an array, so that classifier.evaluate(X, y) is simpler"
        raise ValueError(f"the estimator needs the column `{shown(missing[0])}`, which the table does not have{more}")
    taken = data[list(columns)]
    return taken if named else taken.to_numpy()


def scores_of(estimator: Any, X: Any, positive: Any) -> np.ndarray:
    """The probability that the label is `positive`, or the estimator's log-odds where it has no probabilities."""
    name = type(estimator).__name__
    classes = list(getattr(estimator, "classes_", ()))
    if classes and len(classes) != 2:
        raise ValueError(f"{name} was fitted on {len(classes)} classes: it must have two")
    if classes and positive not in classes:
        raise ValueError(f"{name} was fitted on the labels {classes}, and {positive!r} is none of them")
    at = classes.index(positive) if classes else 1
    if hasattr(estimator, "predict_proba"):
        found = np.asarray(estimator.predict_proba(X), dtype=np.float64)
        if found.ndim != 2 or found.shape[1] != 2:
            raise ValueError(f"predict_proba of {name} has shape {found.shape}: it must have two columns")
        scores, what = found[:, at], "predict_proba"
    else:
        scores, what = np.asarray(estimator.decision_function(X), dtype=np.float64), "decision_function"
        if scores.ndim != 1:
            raise ValueError(f"decision_function of {name} has shape {scores.shape}: it must have one score per row")
        scores = scores if at == 1 else -scores
    count = X.shape[0] if hasattr(X, "shape") else len(X)
    if len(scores) != count:
        raise ValueError(f"{what} of {name} gives {len(scores)} scores for {count} rows")
    if what == "predict_proba":
        scores, wrong = probabilities(scores)
    else:
        wrong = ~np.isfinite(scores)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        said = "no probability" if what == "predict_proba" else "no number"
        raise ValueError(f"{what} of {name} gives row {row} the score {scores[row]}, which is {said}")
    return np.ascontiguousarray(scores)
