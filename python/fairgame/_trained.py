"""A trained classifier: decisions, verdicts and files."""

from __future__ import annotations

import copyreg
import json
import os
import pathlib
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from . import _arguments, _fairgame, _files, _importance, _selection, _wrapped
from ._align import aligned, check_order
from ._evaluation import Evaluation
from ._layout import Layout
from ._said import FairGameWarning, by_constraint, enforcement, help_with_groups
from ._table import column, table

if TYPE_CHECKING:
    from typing_extensions import Self

Array = NDArray[Any]

# The keys of a policy, as the library declares them; and those that `fit` itself fills in, with the argument they are.
SETTINGS = {one["key"]: one for one in json.loads(_fairgame.settings()) if "." not in one["key"]}
FITTED = {"label": "y", "weight": "sample_weight", "unit": "groups", "seed": "random_state"}


class DecisionDistribution(NamedTuple):
    """What each model of a randomised classifier decides."""

    weights: Array
    """The probability that each model is drawn; shape (models,)."""
    decisions: Array
    """The label that each model gives each row; shape (rows, models)."""
    scores: Array
    """The score that each model gives each row; a decision is positive if its score is above 0."""


class Trained(ClassifierMixin, BaseEstimator):
    """What an estimator does once `fit` or `load` has given it a classifier."""

    classes_: Array
    n_features_in_: int
    feature_names_in_: Array
    constraints_: list[str]
    standing_: str | None
    enforcement_: list[dict[str, Any]]
    margin_price_: float | None
    prices_: dict[str, float]
    rule_price_: float | None
    importance_: list[dict[str, Any]]
    multipliers_: dict[str, float]
    mixture_: list[dict[str, Any]]
    iterates_: list[dict[str, Any]]
    evaluations_: dict[str, Evaluation]
    notices_: list[str]
    warnings_: list[str]
    n_iter_: int
    estimators_: list[Any]
    group_estimators_: list[Any]
    games_: list[dict[str, Any]]

    # Set by `fit` and by `load`; an estimator that has no classifier is not fitted.
    _classifier: _fairgame.Classifier | None = None
    _layout: Layout | None = None
    # What other estimators say of rows, if they decide.
    _scores: _wrapped.Scores | None = None

    def predict(self, X: Any, *, keys: Any = None) -> Array:
        """The decision for each row. The same row always gets the same decision.

        Where the models of the mixture disagree, one of them is drawn by a hash of the row's features. With `keys`,
        an array of identifiers, it is drawn by a hash of the row's key: two people with equal features are then drawn
        independently.
        """
        rows = self._features(X)
        decided, _, _ = self._classifier.predict(rows, self._keys(keys, X))
        return self.classes_[decided.astype(int)]

    def predict_proba(self, X: Any) -> Array:
        """The probability of each *decision*, over the random draw of a model.

        It is not the probability that the label is positive: where all models agree, it is 0 or 1.
        """
        rows = self._features(X)
        _, chance, _ = self._classifier.predict(rows)
        return np.column_stack([1.0 - chance, chance])

    def decision_function(self, X: Any) -> Array:
        """The mean score over the mixture. If the mixture is a single model, a decision is positive above 0."""
        rows = self._features(X)
        return self._classifier.predict(rows)[2]

    def decision_distribution(self, X: Any) -> DecisionDistribution:
        """The decision and the score of each model, and the probability that it is drawn."""
        rows = self._features(X)
        scores = np.column_stack(self._classifier.scores(rows))
        weights = np.array([one["weight"] for one in self.mixture_])
        return DecisionDistribution(weights, self.classes_[(scores > 0).astype(int)], scores)

    def evaluate(
        self,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any = None,
        sample_weight: Any = None,
        unit: Any = None,
        confidence: float = 0.95,
    ) -> Evaluation:
        """The rates and constraints on these rows, with confidence intervals and verdicts.

        Without `y`, X is a table that has the label and the groups as columns, as for `fairgame.evaluate`.

        Where several rows are of one person, `unit` says which: it is an array with one identifier per row, or the
        name of a column. Intervals are then those of independent units.
        """
        check_is_fitted(self)
        if y is None:
            if sensitive_features is not None:
                raise ValueError("sensitive_features go with y: without y, X is a table that has the groups as columns")
            rows = self._table(X)
            weight = _arguments.weights(aligned(sample_weight, X, "sample_weight"), rows.rows)
        else:
            rows, weight = self._rows(X, y, sensitive_features, sample_weight)
        unit = aligned(unit, X, "unit")
        with help_with_groups():
            found, notes = self._classifier.evaluate(rows, weight, confidence, _arguments.units(unit, rows))
        for note in notes:
            warnings.warn(note, FairGameWarning, stacklevel=2)
        return Evaluation(json.loads(found), notes)

    def report(
        self, path: str | os.PathLike[str] | None = None, *, test: tuple[Any, ...] | None = None, name: str = "model"
    ) -> str | None:
        """Writes a report in HTML to `path`, or returns it if there is no path.

        `test` is (X, y), (X, y, sensitive_features) or (X, y, sensitive_features, sample_weight): rows to evaluate
        the classifier on. Without it, the report only has the evaluations that were made in training.
        """
        check_is_fitted(self)
        rows = weight = None
        if test is not None:
            parts = _arguments.parts(test, "test", ("sensitive_features", "sample_weight"))
            rows, weight = self._rows(*parts)
        classifier = self._classifier
        if self._scores is not None:
            # The page has the columns of the estimator, whether or not there is a file yet.
            unsaved = {"file": "unsaved", "sha256": "0" * 64, "format": "joblib", "estimators": []}
            classifier = classifier.with_companion(_arguments.to_json(unsaved | self._beside()))
        with help_with_groups("; here as test=(X, y, sensitive_features)"):
            page = classifier.report(name, rows, weight)
        if path is None:
            return page
        _fairgame.write_whole(path, page.encode())
        return None

    def save(self, path: str | os.PathLike[str], *, estimators: str = "joblib") -> None:
        """Writes a model file, which the command line can read too.

        Our own models are whole in that file. A wrapped estimator is written beside it, by `"joblib"` as
        `NAME.HASH.joblib` or by `"skops"` as `NAME.HASH.skops`, where HASH is the beginning of its SHA-256. The
        model file has the whole hash. An older model of that name stays valid until the new one is complete.
        """
        check_is_fitted(self)
        if estimators not in _files.FORMATS:
            raise ValueError(f'estimators is "joblib" or "skops", and not {estimators!r}')
        classifier, path = self._classifier, pathlib.Path(path)
        if self._scores is not None:
            content, companion = _files.pack(path, self._scores.held, estimators)
            _files.save(classifier, path, content, companion | self._beside())
        else:
            _files.save(classifier, path)

    def _beside(self) -> dict[str, Any]:
        """What a model file says of a wrapped estimator, beside the name of its file."""
        assert self._scores is not None
        said = {"features": self._layout.columns, "named": self._layout.named, "ignored": self._scores.ignored}
        return said if self._scores.groups is None else said | {"groups": self._scores.groups.sets}

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        classes: Iterable[Any] | None = None,
        trusted: Iterable[str] | None = None,
    ) -> Self:
        """Reads a model file that Python or the command line wrote.

        `classes` are the negative label and the positive one. A file of the command line does not name them: without
        `classes`, its decisions are False and True.

        Wrapped estimators are read from the file beside it, after its hash is compared. A file of joblib is a pickle,
        which runs code: load only those that you trust. Of a file of skops, `trusted` names the types that skops does
        not know to be safe.
        """
        path = pathlib.Path(path)
        classifier = _fairgame.Classifier.load(path)
        described = json.loads(classifier.describe())
        companion, scores = described["companion"], None
        if companion is not None:
            estimators = _files.read(path, companion, trusted)
            scores = _wrapped.Scores.of_file(estimators, described)
        elif trusted is not None:
            raise ValueError("trusted names types of estimators in a skops file, and this model has no such file")
        return cls._of(classifier, classes, scores=scores)

    @classmethod
    def _of(
        cls,
        classifier: Any,
        classes: Iterable[Any] | None = None,
        result: Any = None,
        scores: _wrapped.Scores | None = None,
    ) -> Self:
        described = json.loads(classifier.describe())
        made = cls()
        made._scores = scores
        made._keep(classifier, Layout.of_file(described, classes), result)
        # The parameters it was trained with, so that a clone trains the same classifier. Validation rows are not kept.
        policy = described["settings"]
        own = [key for key in cls._policy_arguments() if policy.get(key) != "given"]
        if scores is not None:
            own.remove("model")
            made.estimator, made.prefit = scores.estimator, not scores.taught
            made.group_estimator = None if scores.groups is None else clone(scores.groups.estimators[0])
            made.n_features_in_ = len(made._layout.columns)
            if made._layout.named:
                made.feature_names_in_ = np.array(made._layout.columns, dtype=object)
        learning = [key for key, one in SETTINGS.items() if one["group"] == "Training"]
        more = {key: policy[key] for key in learning if key in policy and key not in (*own, *FITTED, "model")}
        made.set_params(**{key: policy[key] for key in own}, random_state=policy["seed"], settings=more)
        made.selection, made.margin, made.deterministic = _selection.parted(made.selection)
        return made

    @classmethod
    def _policy_arguments(cls) -> list[str]:
        """The keys of a policy that are arguments of their own."""
        return [key for key in cls._get_param_names() if key in SETTINGS]

    def _keep(self, classifier: Any, layout: Layout, result: Any = None) -> Self:
        """Sets the attributes of a fitted estimator. `result` is what training returned; a file has none."""
        self._classifier, self._layout = classifier, layout
        described = json.loads(classifier.describe())
        record = described["record"] or {"moments": [], "parts": [], "warnings": [], "turns": 0}
        self.classes_ = np.array([False, True]) if layout.classes is None else layout.classes
        self.constraints_ = described["constraints"]
        self.mixture_ = described["mixture"]
        self.iterates_ = record["moments"]
        self.evaluations_ = {part["part"]: Evaluation(part["evaluation"]) for part in record["parts"]}
        baselines = record.get("baselines", [])
        self.baselines_ = {
            ("test_" if one["part"] == "test" else "") + one["kind"]: Evaluation(one["evaluation"]) for one in baselines
        }
        self.warnings_ = record["warnings"]
        self.n_iter_ = record["turns"]
        self.games_ = record.get("games", [])
        self.cluster_ = (result or {}).get("cluster")
        self.standing_ = described["standing"]
        self.enforcement_ = [enforcement(one) for one in record.get("enforcement", [])]
        self.margin_price_ = record.get("margin_price")
        self.rule_price_ = record.get("rule_price")
        self.importance_ = record.get("importance", [])
        # The library sees the scores of an estimator, and not which columns they are of. What `fit` measured of these
        # is not in files.
        if self._scores is not None:
            columns = self.features_in_use_
            gains = _importance.gains(self._scores.estimators, len(columns))
            shares = [] if gains is None else sorted(zip(gains.tolist(), columns), reverse=True)
            self.importance_ = [
                {"column": name, "gain": gain, "objective": None, "constraints": []} for gain, name in shares
            ]
        self.estimators_ = [] if self._scores is None else list(self._scores.estimators)
        groups = None if self._scores is None else self._scores.groups
        self.group_estimators_ = [] if groups is None else list(groups.estimators)
        self.prices_ = by_constraint(self.constraints_, record.get("prices", []))
        self.notices_ = record.get("notices", []) if result is None else result["notices"]
        if result is not None:
            self.multipliers_ = by_constraint(self.constraints_, result["multipliers"])
        return self

    def _rows(self, X: Any, y: Any, sensitive_features: Any, sample_weight: Any) -> tuple[_fairgame.Table, Array | None]:
        """Features, groups and labels as one table, and the weights of its rows."""
        check_order(y, X)
        sensitive_features = aligned(sensitive_features, X, "sensitive_features")
        sample_weight = aligned(sample_weight, X, "sample_weight")
        X = self._checked(X)
        rows = self._scored(self._layout.rows(X, y, sensitive_features), X)
        return rows, _arguments.weights(sample_weight, rows.rows)

    def _scored(self, rows: _fairgame.Table, X: Any) -> _fairgame.Table:
        """The rows with the scores of other estimators beside them, if these decide."""
        if self._scores is None:
            return rows
        return self._scores.beside(rows, _wrapped.columns_of(X, self._layout.columns, self._scores.ignored))

    def _table(self, data: Any) -> _fairgame.Table:
        """A table with the label and the groups, with the scores of other estimators beside it if these decide."""
        rows = table(self._opened(data))
        if self._scores is None:
            return rows
        return self._scores.beside(rows, _wrapped.features_of(data, self.features_in_use_, self._layout.named))

    def _features(self, X: Any) -> _fairgame.Table:
        check_is_fitted(self)
        X = self._checked(X)
        return self._scored(self._layout.features(X), X)

    @staticmethod
    def _keys(keys: Any, X: Any) -> _fairgame.Table | None:
        """The identifiers of the rows of X as a table, if there are any."""
        if keys is None:
            return None
        keys = column(column_or_1d(aligned(keys, X, "keys")), "keys")
        return _fairgame.Table.from_columns([("key", keys)])

    def _opened(self, X: Any) -> Any:
        """The table of a file, with the missing values of training; what is no path stays as it is."""
        if isinstance(X, (str, os.PathLike)):
            return _fairgame.Table.read([os.fspath(X)], missing=self._classifier.missing())
        return X

    def _checked(self, X: Any) -> Any:
        """X, after scikit-learn's check that it has the columns of `fit`.

        Nothing is compared for a `Table`, or if the classifier is from a file: columns are then found by name.
        """
        X = _arguments.features(self._opened(X), self)
        if self._layout.columns and not isinstance(X, _fairgame.Table):
            validate_data(self, X, reset=False, skip_check_array=True)
        return X

    def explain(self, X: Any, row: int = 0, *, background: Any = None, keys: Any = None) -> dict[str, Any]:
        """Why a row of X is decided as it is, as `fairgame explain` says it.

        The dict has the decision (`positive`), its `probability` and `score`; `blend`, which is `"fold"` where the member of
        one fold is drawn, and `"mean"` where the mean of the folds decides; the `members` of the mixture, each with its
        `weight`, `score`, `threshold` and decision, and in the plug-in game the `probabilities` that its rule decides by
        and the `cut` on them; `conditions`, what each of these probabilities is of; and `contributions`, what each column
        adds to the log-odds of a probability (on average over the folds) or to the mean score. These are exact Shapley
        values, for trees and linear models, in comparison with the rows of `background` (by default up to 100 other rows
        of X). Other models have none.

        `keys` are identifiers as of `predict`, one for each row of X. Give them if `predict` was given them: the decision is
        then the same.
        """
        rows = self._features(X)
        others = None if background is None else self._features(background)
        found = self._classifier.explain(rows, int(row), others, self._keys(keys, X))
        return json.loads(found)

    def trade_off(self, constraint: int | str | None = None, slacks: Iterable[float] | None = None) -> dict[str, Any]:
        """What other bounds would cost, from the sums that training kept: nothing is trained.

        `constraint` is the place of a constraint in `constraints_`, or the constraint itself; None moves the bounds of all. A
        slack of 0.01 loosens a bound by 0.01: the constraint then holds if its loss is at most 0.01.

        The dict has the `objective`, the `constraint`, the `confidence`, and `points`. Each point has its `slack`, whether the
        bounds are `feasible`, the `objective` on the rows that judge, its `optimism`, the `estimate` on new rows with its
        `interval`, and the `losses` of all constraints.
        """
        check_is_fitted(self)
        if isinstance(constraint, str):
            if constraint not in self.constraints_:
                raise ValueError(f"there is no constraint {constraint!r}; there are {', '.join(self.constraints_)}")
            constraint = self.constraints_.index(constraint)
        given = None if slacks is None else [float(slack) for slack in slacks]
        return json.loads(self._classifier.trade_off(constraint, given))

    def export_onnx(self, path: str | os.PathLike[str]) -> None:
        """Writes the classifier as an ONNX graph, as `fairgame export` does.

        The graph has an input of shape (rows, 1) for each of `features_in_use_`: numbers and booleans as float64 (NaN is
        missing), categories as strings (an empty one is missing). Its outputs are `probability`, as of `predict_proba`, and
        `score`. A wrapped estimator is no part of the graph: its inputs are then the estimator's scores.
        """
        check_is_fitted(self)
        _fairgame.write_whole(path, self._classifier.to_onnx())

    @property
    def feature_importances_(self) -> Array:
        """How much each column of X counts; shape (n_features,).

        Of trees it is the share of what splits on the column gained. Of a wrapped estimator it is the estimator's own,
        on average over the folds; if it has none for these columns, it is by how much the objective rises on held-out rows
        if the values of the column are shuffled.
        """
        check_is_fitted(self)
        by = "gain"
        if self._scores is not None and any(one["gain"] is None for one in self.importance_):
            by = "objective"
        found = {one["column"]: one[by] for one in self.importance_}
        if not found or None in found.values():
            raise AttributeError("feature_importances_ is known of trees and wrapped estimators only; see importance_")
        return np.array([found.get(name, 0.0) for name in self._layout.columns])

    @property
    def features_in_use_(self) -> list[str]:
        """The columns that decide a row: for a wrapped estimator those that it was fitted on."""
        check_is_fitted(self)
        if self._scores is not None:
            return [name for name in self._layout.columns if name not in self._scores.ignored]
        return list(json.loads(self._classifier.describe())["columns"])

    def __repr__(self, N_CHAR_MAX: int = 300) -> str:
        # What a file or `adjust` made has every setting as a parameter.
        return super().__repr__(N_CHAR_MAX)

    def __sklearn_is_fitted__(self) -> bool:
        return self._classifier is not None


# The compiled class cannot be pickled by itself.
copyreg.pickle(_fairgame.Classifier, lambda one: (_fairgame.Classifier.from_bytes, (bytes(one.to_bytes()),)))
