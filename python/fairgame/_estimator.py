"""The estimator: scikit-learn's manners around the library's training."""

from __future__ import annotations

import contextlib
import json
import numbers
import os
import warnings
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_array, check_random_state
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from . import _fairgame
from ._evaluation import Evaluation
from ._progress import Bar
from ._table import array_names, back, column, groups, is_columns, is_frame, same, table
from .rates import Constraint, _column, _value

# The keys of a policy, as the library declares them, and those that `fit` itself fills in.
_SETTINGS = {one["key"]: one for one in json.loads(_fairgame.settings()) if "." not in one["key"]}
_FITTED = ("label", "weight", "seed")


class FairGameWarning(UserWarning):
    """What to know before trusting a classifier or a verdict."""


class DecisionDistribution(NamedTuple):
    """What each model of a mixture decides."""

    weights: np.ndarray
    """How likely each model is drawn; shape (models,)."""
    decisions: np.ndarray
    """The label that each model gives each row; shape (rows, models)."""
    scores: np.ndarray
    """The scores behind them: positive is above 0; shape (rows, models)."""


class FairGameClassifier(ClassifierMixin, BaseEstimator):
    """A classifier trained under constraints that are enforced on rows it does not learn from.

    Parameters
    ----------
    constraints : list of str or of constraints of `fairgame.rates`
        What is to hold, in the language: `'positive_rate(each sex) >= 0.8 * positive_rate()'`. Columns are those of
        X and of `sensitive_features`; those of an array are called x0, x1, …
    objective : str or rate
        What to minimise.
    model : str or dict
        `"linear"`, `"mlp"`, `"lattice"`, or with its settings, `{"mlp": {"units": 20}}`.
    algorithm : str or dict
        `"practical"`, `"lagrangian"`, `"unconstrained"`, …, or with its settings,
        `{"practical": {"turns": 20000}}`.
    recipe : "recommended" or "paper"
        What stands where `datasets`, `selection` and the keys of `settings` say nothing: cross-fitting, a margin of
        one standard error and early stopping; or the paper's two halves, without.
    datasets : None, str or dict
        `"cross"`: every row teaches, and judges models that have not learnt from it (`{"cross": {"folds": 10}}`);
        `"two"`: constraints are enforced on half of the rows (`{"two": {"val_fraction": 0.3}}`); or `"one"`. None is as
        the recipe has it.
    selection : None, str or dict
        How the classifier is made of the models that were kept, such as
        `{"shrink": {"margin": {"confidence": 0.95}}}`. None is as the recipe has it.
    settings : dict
        Any other key of a policy, such as `{"surrogate": "sigmoid", "encoder": {"ignore": ["id"]}}`.
    random_state : int, RandomState or None
        Draws splits, start, minibatches and decisions. None is 0: the same data give the same classifier.
    n_jobs : int or None
        Threads; the classifier does not depend on them. None is 1, -1 all.
    verbose : int or "auto"
        Above 0, a progress bar on standard error; "auto" shows it on a terminal if training takes long.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; the second is the positive one.
    constraints_ : list of str
        The constraints one by one, without chains and without `each`.
    multipliers_ : dict
        What the constraint player played on average, by constraint; not of a model that was read from a file.
    mixture_ : list of dict
        The weight and the turn of each model that is mixed.
    iterates_ : list of dict
        The turns that were kept, with their objective, worst violation and multipliers.
    evaluations_ : dict of Evaluation
        What it comes to on the rows of "train", and of "val", where the constraints were enforced: with cross-fitting
        the same rows, each by models that have not learnt from it (and "test", if the policy keeps some).
    notices_ : list of str
        What preparing the rows found worth telling.
    warnings_ : list of str
        What to know before trusting the classifier; each is also a `FairGameWarning`.
    n_iter_ : int
        Turns that were played, in all games.
    games_ : list of dict
        Of each game (one, or with cross-fitting one a fold), how many turns it took, whether it stopped early, and how
        much of the mixture is from it.

    Examples
    --------
    >>> import numpy as np
    >>> from fairgame import FairGameClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 3))
    >>> y = X[:, 0] + rng.normal(size=2000) > 0
    >>> clf = FairGameClassifier(["recall() >= 0.9"], algorithm={"practical": {"turns": 5000}}).fit(X, y)
    >>> clf.constraints_
    ['recall() >= 0.9']
    >>> clf.evaluations_["val"].constraints[0]["value"] <= 1e-6
    True
    """

    def __init__(
        self,
        constraints: Iterable[Any] = (),
        *,
        objective: Any = "error()",
        model: str | Mapping[str, Any] = "linear",
        algorithm: str | Mapping[str, Any] = "practical",
        recipe: str = "recommended",
        datasets: str | Mapping[str, Any] | None = None,
        selection: str | Mapping[str, Any] | None = None,
        settings: Mapping[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int | str = "auto",
    ):
        self.constraints = constraints
        self.objective = objective
        self.model = model
        self.algorithm = algorithm
        self.recipe = recipe
        self.datasets = datasets
        self.selection = selection
        self.settings = settings
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X, y, *, sensitive_features=None, sample_weight=None, validation=None):
        """Trains.

        Parameters
        ----------
        X : array, sparse matrix, or frame of pandas, polars or pyarrow
            Numbers, categories and truths; NaN and None are missing.
        y : array of two labels
            The greater one is positive.
        sensitive_features : None, str, list of str, array, frame, or dict of arrays
            The groups that constraints speak of: names of columns of X, which the model then sees as well, or
            columns of their own, which it does not. An array is the column `group`. A dict of masks has groups that
            overlap. They are not needed to predict.
        sample_weight : array of shape (n,)
            How much each row counts, in the objective and in the constraints.
        validation : None or tuple
            (X, y), (X, y, sensitive_features) or (X, y, sensitive_features, sample_weight): rows to enforce the
            constraints on, in place of a part of X.
        """
        # What an earlier fit left is not to be mixed with what this one makes.
        for name in ("_loaded", "_classifier", "feature_names_in_", "n_features_in_"):
            self.__dict__.pop(name, None)
        rows, weights = self._rows(X, y, sensitive_features, sample_weight, reset=True)
        rows = _weighted(rows, self._weight, weights)
        val = None
        if validation is not None:
            if self.datasets == "one":
                raise ValueError('validation is of no use with datasets="one"')
            given = _parts(validation, "validation")
            if (given[3] is None) != (sample_weight is None):
                raise ValueError("give a sample_weight for the rows of training and of validation, or for neither")
            val, weights = self._rows(*given, reset=False)
            val = _weighted(val, self._weight, weights)
        policy = self._policy(sample_weight is not None)
        with Bar(self.verbose) as progress, _explained():
            classifier, result = _fairgame.train(
                dumped(policy), rows, val, threads=threads(self.n_jobs), progress=progress
            )
        self._classifier = classifier.with_labels(dumped(self.classes_.tolist()))
        self._describe(json.loads(result))
        for warning in self.warnings_:
            warnings.warn(warning, FairGameWarning, stacklevel=2)
        return self

    def predict(self, X, *, keys=None):
        """Decisions: the same row is always decided the same way.

        Where the models of the mixture disagree, one of them is drawn by a hash of the row's features; or of its
        entry of `keys`, an array of identifiers, so that two people who look alike are drawn apart.
        """
        check_is_fitted(self)
        if keys is not None:
            keys = column_or_1d(keys)
            keys = _fairgame.Table.from_columns([("key", column(keys, "keys"))])
        decided, _, _ = self._classifier.predict(self._features(X), keys)
        return self.classes_[decided.astype(int)]

    def predict_proba(self, X):
        """The probability of each *decision*, over the draw of a model of the mixture.

        It is not the probability that the label is positive: where all models agree it is 0 or 1.
        """
        check_is_fitted(self)
        _, chance, _ = self._classifier.predict(self._features(X))
        return np.column_stack([1.0 - chance, chance])

    def decision_function(self, X):
        """The mean score over the mixture; where it is one model, positive means above 0."""
        check_is_fitted(self)
        return self._classifier.predict(self._features(X))[2]

    def decision_distribution(self, X) -> DecisionDistribution:
        """What each model of the mixture decides, and how likely it is drawn."""
        check_is_fitted(self)
        scores = np.column_stack(self._classifier.scores(self._features(X)))
        weights = np.array([one["weight"] for one in self.mixture_])
        return DecisionDistribution(weights, self.classes_[(scores > 0).astype(int)], scores)

    def evaluate(self, X, y, *, sensitive_features=None, sample_weight=None, confidence=0.95) -> Evaluation:
        """Rates and constraints with confidence intervals, and whether each constraint is met."""
        check_is_fitted(self)
        rows, weight = self._rows(X, y, sensitive_features, sample_weight, reset=False)
        with _explained():
            found, notes = self._classifier.evaluate(rows, weight, confidence)
        for note in notes:
            warnings.warn(note, FairGameWarning, stacklevel=2)
        return Evaluation(json.loads(found), notes)

    def report(
        self, path: str | os.PathLike | None = None, *, test: tuple | None = None, name: str = "model"
    ) -> str | None:
        """Writes the page about the classifier to `path`; without one, gives it as a text of HTML.

        With `test`, which is (X, y), (X, y, sensitive_features) or with sample_weight after these, it says how the
        classifier does on these rows; otherwise it can only speak of those that it was made from.
        """
        check_is_fitted(self)
        rows = weight = None
        if test is not None:
            rows, weight = self._rows(*_parts(test, "test"), reset=False)
        with _explained():
            page = self._classifier.report(name, rows, weight)
        if path is None:
            return page
        _write(path, page)
        return None

    def save(self, path: str | os.PathLike) -> None:
        """Writes the model file, which the command line reads too."""
        check_is_fitted(self)
        self._classifier.save(os.fspath(path))

    @classmethod
    def load(cls, path: str | os.PathLike, *, classes: Iterable[Any] | None = None) -> FairGameClassifier:
        """Reads a model file, of Python or of the command line.

        One of the command line says what makes a row positive, and not what the labels are called: give the negative
        and the positive one as `classes`, or decisions are False and True.
        """
        return cls._of(_fairgame.Classifier.load(os.fspath(path)), classes)

    @classmethod
    def _of(cls, classifier: Any, classes: Iterable[Any] | None = None, result: Any = None) -> FairGameClassifier:
        made = cls()
        made._classifier = classifier
        made._loaded = True
        made._describe(result)
        if classes is not None:
            made.classes_ = np.array(list(classes))
            made._known = True
        if len(made.classes_) != 2:
            raise ValueError("classes are two labels: the negative one, then the positive one")
        negative = f"{_column(made._target or '')} == {_value(made.classes_.tolist()[0])}"
        if negative == made._label:
            raise ValueError(f"a row is positive where `{made._label}`: the positive label is the second of classes")
        # So that a clone of it is trained alike.
        policy = json.loads(classifier.describe())["settings"]
        own = cls._arguments()
        learning = [key for key, one in _SETTINGS.items() if one["group"] == "Training"]
        more = {key: policy[key] for key in learning if key in policy and key not in (*own, *_FITTED)}
        return made.set_params(**{key: policy[key] for key in own}, random_state=policy["seed"], settings=more)

    # How it works.

    @classmethod
    def _arguments(cls) -> list[str]:
        """The keys of a policy that are arguments of their own."""
        return [key for key in cls._get_param_names() if key in _SETTINGS]

    def _policy(self, weighted: bool) -> dict[str, Any]:
        more = dict(self.settings or {})
        own = self._arguments()
        if clash := sorted({*_FITTED, *own} & set(more)):
            raise ValueError(f"settings: `{clash[0]}` is an argument of its own")
        encoder = dict(more.pop("encoder", None) or {})
        encoder["ignore"] = [*encoder.get("ignore", []), *self._groups]
        # None leaves a setting to the recipe.
        return {
            **{key: getattr(self, key) for key in own},
            "label": self._label,
            "objective": str(self.objective),
            "constraints": listed(self.constraints),
            "seed": _seed(self.random_state),
            "weight": self._weight if weighted else None,
            "encoder": encoder,
            **more,
        }

    def _describe(self, result: Any) -> None:
        known = json.loads(self._classifier.describe())
        self.constraints_ = known["constraints"]
        self.mixture_ = known["mixture"]
        record = known["record"] or {"moments": [], "parts": [], "warnings": [], "turns": 0}
        self.iterates_ = record["moments"]
        self._mixed = record.get("mixture")
        self.evaluations_ = {part["part"]: Evaluation(part["evaluation"]) for part in record["parts"]}
        self.warnings_ = record["warnings"]
        self.n_iter_ = record["turns"]
        self.games_ = record.get("games", [])
        if "_loaded" in self.__dict__:
            columns = known["label_columns"]
            self._label, self._target, self._groups = known["label"], columns[0] if len(columns) == 1 else None, []
            self._known = known["labels"] is not None
            self.classes_ = np.array(known["labels"] or [False, True])
        if result is not None:
            self.notices_ = result["notices"]
            self.multipliers_ = dict.fromkeys(self.constraints_, 0.0)
            for constraint, multiplier in zip(self.constraints_, result["multipliers"]):
                self.multipliers_[constraint] += multiplier

    def _rows(self, X, y, sensitive, weight, *, reset: bool):
        """Features, groups and label as one table, and its weights."""
        name = getattr(y, "name", None)
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        X, y = self._validated(X, y, reset=reset)
        rows = self._table(X, reset=reset)
        more = groups(sensitive, rows)
        known = [name for name, _ in rows.columns]
        if reset:
            self._groups = [name for name, _ in more]
            self._target = name if isinstance(name, str) and name else _free("label", [*known, *self._groups])
            self._weight = _free("weight", [*known, *self._groups, self._target])
            self._label = _condition(self._target, self.classes_[1])
        if self._target is None:
            raise ValueError(f"the label `{self._label}` is of several columns: use fairgame.evaluate")
        if self._target not in known:
            more.append((self._target, column(y, "y")))
        elif not same(column(y, "y"), back(rows, self._target)):
            raise ValueError(f"y is called `{self._target}`, and so is a column of X that has other values: rename one")
        for name, values in more:
            length = len(values[0] if isinstance(values, tuple) else values)
            if length != rows.rows:
                raise ValueError(f"column `{name}` has {length} values for {rows.rows} rows of X")
        whole = rows.beside(_fairgame.Table.from_columns(more)) if more else rows
        return whole, _weights(weight, rows.rows)

    def _features(self, X):
        X, _ = self._validated(X, None, reset=False)
        return self._table(X, reset=False)

    def _table(self, X, *, reset: bool):
        """X with the names of the columns that were fitted."""
        if reset:
            rows = table(X)
            self._columns = [name for name, _ in rows.columns]
            self._named = is_frame(X)
            self.n_features_in_ = len(self._columns)
            return rows
        if not is_frame(X):
            names = getattr(self, "_columns", None)
            return table(X, names if names is not None and len(names) == X.shape[1] else array_names(X.shape[1]))
        rows = table(X)
        if getattr(self, "_named", True) or len(rows.columns) != len(self._columns):
            return rows
        # Fitted on an array, of which the columns are known by their places.
        return _fairgame.Table.from_columns(
            [(new, back(rows, name)) for new, (name, _) in zip(self._columns, rows.columns)]
        )

    def _validated(self, X, y, *, reset: bool):
        if y is not None:
            y = _labels(y)
        bare = is_frame(X) and not hasattr(X, "shape") and not isinstance(X, _fairgame.Table)
        if bare or is_columns(X) or isinstance(X, (str, os.PathLike)):
            X = table(X)
        if is_frame(X):
            if "_loaded" not in self.__dict__ and not isinstance(X, _fairgame.Table):
                validate_data(self, X, reset=reset, skip_check_array=True)
        else:
            how = {"accept_sparse": ["csr", "csc"], "ensure_all_finite": "allow-nan", "dtype": np.float64}
            loaded = "_loaded" in self.__dict__
            X = check_array(X, **how) if loaded else validate_data(self, X, reset=reset, **how)
            if np.isinf(X.data if hasattr(X, "tocsc") else X).any():
                raise ValueError("Input X contains infinity")
        if y is None:
            return X, None
        check_consistent_length(y, range(X.rows if isinstance(X, _fairgame.Table) else X.shape[0]))
        if reset:
            check_classification_targets(y)
            kind = type_of_target(y, input_name="y", raise_unknown=True)
            if kind != "binary":
                raise ValueError(f"Only binary classification is supported. The type of the target is {kind}.")
            self.classes_ = np.unique(y)
            if len(self.classes_) < 2:
                raise ValueError(f"y has one class only, {self.classes_.tolist()[0]!r}: there is nothing to learn")
        elif "_loaded" not in self.__dict__ or self._known:
            unknown = set(np.unique(y).tolist()) - set(self.classes_.tolist())
            if unknown:
                raise ValueError(
                    f"y has labels that training had not: {', '.join(sorted(map(str, unknown)))}; "
                    f"it had {self.classes_[0]} and {self.classes_[1]}"
                )
            # 1 and True are equal, but columns of them are not of one kind.
            y = self.classes_[(y == self.classes_[1]).astype(int)]
        return X, y

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_classifier")

    def __getstate__(self):
        state = super().__getstate__().copy()
        if "_classifier" in state:
            state["_classifier"] = bytes(state["_classifier"].to_bytes())
        return state

    def __setstate__(self, state):
        if isinstance(state.get("_classifier"), bytes):
            state = {**state, "_classifier": _fairgame.Classifier.from_bytes(state["_classifier"])}
        super().__setstate__(state)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags


@contextlib.contextmanager
def _explained():
    """A column that is missing may be a group that was not given."""
    try:
        yield
    except ValueError as error:
        if "there is no column" not in str(error):
            raise
        more = "groups that are no columns of X are given as sensitive_features; an array of them is the column `group`"
        raise ValueError(f"{error}\n  help: {more}") from None


def listed(constraints: Any) -> list[str]:
    """Constraints as their texts."""
    if isinstance(constraints, (str, bytes, Constraint)) or not isinstance(constraints, Iterable):
        raise ValueError(f"constraints is a list of texts or of constraints; this is {constraints!r}")
    return [str(one) for one in constraints]


def dumped(policy: Any) -> str:
    """JSON, also of numpy's numbers and of rates."""

    def plain(value: Any) -> Any:
        if isinstance(value, (np.generic, np.ndarray)):
            return value.tolist()
        if isinstance(value, Mapping):
            return dict(value)
        if hasattr(value, "_text"):
            return str(value)
        raise ValueError(f"settings: {value!r} is no number, text, list or dict")

    return json.dumps(policy, default=plain)


def _seed(random_state: Any) -> int:
    if random_state is None:
        return 0
    if isinstance(random_state, numbers.Integral):
        if random_state < 0:
            raise ValueError(f"a random_state of {random_state}: give one of at least 0")
        return int(random_state)
    if hasattr(random_state, "integers"):
        return int(random_state.integers(2**31 - 1))
    return int(check_random_state(random_state).randint(2**31 - 1))


def threads(n_jobs: int | None) -> int:
    if n_jobs is None:
        return 1
    if n_jobs == 0:
        raise ValueError("n_jobs is a number of threads, or -1 for all, and not 0")
    return os.cpu_count() or 1 if n_jobs < 0 else int(n_jobs)


def _parts(given: Any, name: str) -> tuple:
    if not isinstance(given, (tuple, list)) or not 2 <= len(given) <= 4:
        raise ValueError(f"{name} is (X, y), with sensitive_features and sample_weight after them")
    return tuple(given) + (None,) * (4 - len(given))


def _labels(y: Any) -> np.ndarray:
    """Labels as an array of one kind, of which none is missing."""
    missing = getattr(y, "isna", None) or getattr(y, "is_null", None)
    if missing is not None and np.asarray(missing()).any():
        raise ValueError("Input y contains NaN: every row needs a label")
    if hasattr(y, "to_list") or getattr(getattr(y, "dtype", None), "kind", "") == "O":
        held = y.to_list() if hasattr(y, "to_list") else np.ravel(y).tolist()
        if any(label is None or label != label for label in held):
            raise ValueError("Input y contains NaN: every row needs a label")
        kinds = {type(label) for label in held}
        y = np.array(held) if len(kinds) == 1 else y
    y = column_or_1d(y, warn=True)
    if y.dtype.kind == "f" and np.isnan(y).any():
        raise ValueError("Input y contains NaN: every row needs a label")
    return y


def _weights(weight: Any, rows: int) -> np.ndarray | None:
    if weight is None:
        return None
    return _check_sample_weight(weight, np.zeros((rows, 1)), dtype=np.float64, ensure_non_negative=True)


def _weighted(rows: Any, name: str, weights: np.ndarray | None) -> Any:
    """Rows with their weights as a column."""
    return rows if weights is None else rows.beside(_fairgame.Table.from_columns([(name, weights)]))


def _free(name: str, taken: list[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _condition(name: str, positive: Any) -> str:
    """What makes a row positive."""
    if isinstance(positive, (bool, np.bool_)):
        return _column(name)
    return f"{_column(name)} == {_value(positive if isinstance(positive, (numbers.Real, np.number)) else str(positive))}"


def _write(path: str | os.PathLike, text: str) -> None:
    """To a name of its own first, so that no half page is ever found."""
    path = os.fspath(path)
    with open(f"{path}.part", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(f"{path}.part", path)
