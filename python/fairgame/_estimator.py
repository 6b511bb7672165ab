"""The estimator: training and decisions behind scikit-learn's interface."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import validate_data

from . import _arguments, _fairgame, _importance, _objective, _selection, _wrapped
from ._align import aligned, check_order
from ._columns import check_columns, engine_of
from ._layout import Layout
from ._progress import Bar
from ._said import UNSEEN, FairGameWarning, help_with_groups
from ._trained import FITTED, Trained

if TYPE_CHECKING:
    from typing_extensions import Self


class FairGameClassifier(Trained):
    """A classifier trained under constraints on its rates, which are enforced on held-out rows.

    The result is a randomised classifier: a mixture of a few models, one of which is drawn to decide a row.

    Parameters
    ----------
    constraints : list of str or of constraints of `fairgame.rates`
        Constraints in the language, such as `'positive_rate(each sex) >= 0.8 * positive_rate()'`. They may name the
        columns of X and of `sensitive_features`. The columns of an array are called x0, x1, …
    objective : str or rate
        What to minimise.
    model : str or dict
        `"trees"` (boosted trees), `"linear"`, `"mlp"`, `"lattice"`, or with its settings, `{"mlp": {"units": 20}}`.
        `"auto"` is trees, or linear if `algorithm` is given.
    estimator : None or estimator of scikit-learn
        Another classifier with `fit` and `predict_proba` (or `decision_function`), such as LightGBM's, in place of
        `model`. It is fitted once for each fold, and constraints are put over its probabilities by the plug-in game.
        Groups that are no columns of X are modelled by boosted trees, or by `group_estimator`.
    prefit : bool
        Whether `estimator` is fitted already. `fit` must then be given rows that it was not fitted on.
    group_estimator : None or estimator of scikit-learn
        A classifier with `predict_proba`, for several classes, that models groups which are no columns of X. It is
        fitted once for each fold. It goes with `estimator`.
    algorithm : str or dict
        `"plug_in"`, `"practical"`, `"lagrangian"`, `"unconstrained"`, …, or with its settings,
        `{"practical": {"turns": 20000}}`. `"auto"` is the plug-in game. With
        `recipe="paper"`, `"auto"` means practical, and a linear model.
    recipe : "recommended" or "paper"
        The defaults for `datasets`, `selection` and the keys of `settings`. `"recommended"` uses cross-fitting, a
        safety margin of one standard error, and early stopping. `"paper"` uses the paper's two halves of the rows,
        without a margin and without early stopping.
    datasets : None, str or dict
        `"cross"` is cross-fitting: each model is judged only on rows it was not trained on
        (`{"cross": {"folds": 10}}`). `"two"` holds half of the rows out to enforce the constraints on
        (`{"two": {"val_fraction": 0.3}}`). `"one"` enforces the constraints on the training rows. None leaves it to
        the recipe.
    selection : None, str or dict
        How the mixture is made from the models that training kept, such as `{"shrink": {"thresholds": 50}}`. `"rule"`
        is short for `deterministic=True`. None leaves it to the recipe.
    margin : None, number or str
        The safety margin of each constraint. `1` is one standard error. `"95%"` is a promise: with that probability
        all constraints hold in the population. `"gate:95%@9000"` is enough for `evaluate` on 9,000 new rows at 95 %
        to say met with a probability of 80 %. `"none"` is no margin. None leaves it to the recipe.
    deterministic : bool
        Select one rule that decides without a draw, in place of a mixture. It needs the plug-in game (trees, or an
        estimator). It costs a little objective (`rule_price_`), and with cross-fitting nothing is promised: the mean
        of the folds decides, which is another classifier than those that were judged.
    class_weight : None, "balanced" or dict
        How much an error on each label counts in the objective, which must be `error()`. `"balanced"` counts both
        labels alike: `0.5 * fpr() + 0.5 * fnr()`. A dict has the weight of each label; one that it leaves out is 1.
        Constraints do not change: they count rows by `sample_weight` only.
    settings : dict
        Any other key of a policy, such as `{"surrogate": "sigmoid", "encoder": {"ignore": ["id"]}}`.
    random_state : int, RandomState or None
        The seed of splits, initial parameters, mini-batches and decisions. None means 0: the same data give the same
        classifier.
    n_jobs : int or None
        The number of threads, as scikit-learn means it: None is 1, or that of `joblib.parallel_config` around the
        call; -1 is all, and -2 all but one. The classifier does not depend on it.
    memory : None, int or str
        How much memory the stored rows may take where they are a million or more, in bytes or as "4GB". The rest goes to a
        temporary file. None is half of the free memory. The classifier does not depend on it. With an estimator, folds or
        `datasets="one"`, all rows are held as a table.
    client : None, client of Dask, or str
        Where X of `fit` is a Dask data frame: the client, or the address of a scheduler. None is the client in use. A clone
        has the same one; a pickle has none.
    verbose : int or "auto"
        Above 0, a progress bar on standard error. "auto" shows it on a terminal if training takes long.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; the second is the positive one.
    constraints_ : list of str
        The constraints one by one, with chains and `each` written out.
    standing_ : str or None
        `"promised"` if all constraints are promised, `"violated"` if one is violated, and otherwise `"enforced"`. None
        for files of versions that did not say.
    enforcement_ : list of dict
        What training says of each constraint: its `name`; its `value`, the loss on the rows where it was enforced; the
        `optimism`, by how much the loss is larger on rows that had no part in the selection; the margin that was
        `asked` for, and the `margin` that was had; the `estimate` of the loss on new rows, and where it lies (`low`,
        `high`) at 95 % confidence; and its `standing`.
    margin_price_ : float or None
        By how much the margin and the optimism raise the objective. None if it is not known.
    prices_ : dict
        By how much the objective would fall for each unit of slack in a constraint. Empty if it is not known.
    rule_price_ : float or None
        By how much one deterministic rule raises the objective, compared with the best mixture. None without
        `deterministic=True`.
    importance_ : list of dict
        How much each column counts, the most important first. `gain` is its share of what the splits of trees gained
        (None without trees), or what a wrapped estimator says itself (`feature_importances_`). `objective` and `constraints` are by how much these rise on held-out rows if the values of
        the column are shuffled.
    multipliers_ : dict
        The multiplier of each constraint, averaged over the turns. A classifier read from a file has none.
    mixture_ : list of dict
        The weight of each model of the mixture, and the turn it is from.
    iterates_ : list of dict
        The models that training kept, with their turn, objective, worst violation and multipliers.
    evaluations_ : dict of Evaluation
        The evaluation on the rows of "train" and of "val", where the constraints were enforced. With cross-fitting,
        both are the same rows, and "val" judges each model only on rows it was not trained on. If the policy holds
        out test rows, there is also "test".
    baselines_ : dict of Evaluation
        The rows of "val" decided in other ways: by a model of the same family that is trained for the objective alone
        ("unconstrained"; not there if none was trained), and all alike ("always_negative", "always_positive"). With test
        rows, also "test_unconstrained" and so on.
    notices_ : list of str
        Remarks on the data from preparing it.
    warnings_ : list of str
        What to know before trusting the classifier; each is also a `FairGameWarning`.
    n_iter_ : int
        The number of turns played, over all games.
    estimators_ : list of estimators
        The fitted copies of `estimator`, one for each fold; empty without one.
    group_estimators_ : list of estimators
        The fitted copies of `group_estimator`, one for each fold; empty without one.
    games_ : list of dict
        For each game (one, or with cross-fitting one per fold): its turns, whether it stopped early, and its share of
        the mixture.

    Examples
    --------
    >>> import numpy as np
    >>> from fairgame import FairGameClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 3))
    >>> y = X[:, 0] + rng.normal(size=2000) > 0
    >>> clf = FairGameClassifier(["recall() >= 0.9"]).fit(X, y)
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
        model: str | Mapping[str, Any] = "auto",
        estimator: Any = None,
        prefit: bool = False,
        group_estimator: Any = None,
        algorithm: str | Mapping[str, Any] = "auto",
        recipe: str = "recommended",
        datasets: str | Mapping[str, Any] | None = None,
        selection: str | Mapping[str, Any] | None = None,
        margin: float | str | Mapping[str, Any] | None = None,
        deterministic: bool = False,
        class_weight: str | Mapping[Any, float] | None = None,
        settings: Mapping[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        memory: int | str | None = None,
        client: Any = None,
        verbose: int | str = "auto",
    ) -> None:
        self.constraints = constraints
        self.objective = objective
        self.model = model
        self.estimator = estimator
        self.prefit = prefit
        self.group_estimator = group_estimator
        self.algorithm = algorithm
        self.recipe = recipe
        self.datasets = datasets
        self.selection = selection
        self.margin = margin
        self.deterministic = deterministic
        self.class_weight = class_weight
        self.settings = settings
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory = memory
        self.client = client
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        sensitive_features: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
        validation: tuple[Any, ...] | None = None,
    ) -> Self:
        """Trains the classifier.

        Parameters
        ----------
        X : array, sparse matrix, or frame of pandas, polars or pyarrow
            Numbers, categories and booleans; NaN and None are missing values. A Dask data frame or a dataset of `ray.data` is
            trained on where it is: y, sensitive_features, sample_weight and groups then name columns of it, and y may
            also be a series of Dask. There is no estimator, class_weight or validation then.
        y : array of two labels
            The greater one is positive.
        sensitive_features : None, str, list of str, array, frame, or dict of arrays
            The groups that constraints name. Names of columns of X are groups and features. Columns of their own are
            groups only: the model does not see them, and `predict` does not need them. An array is the column
            `group`. Groups that overlap are given as a dict of masks.
        sample_weight : array of shape (n,)
            The weight of each row, in the objective and in the constraints.
        groups : None, array of shape (n,), or str
            Which rows belong together, such as those of one person: rows of one group are in one fold, and standard
            errors are by group. An array has one identifier per row. A name is that of a column of X or of
            `sensitive_features`, which is then no feature.
        validation : None or tuple
            (X, y), and after them sensitive_features, sample_weight and groups as far as they are needed: rows to
            enforce the constraints on, instead of a part of X.
        """
        if (engine := engine_of(X)) is not None:
            more = (sensitive_features, sample_weight, groups, validation)
            return self._fit_elsewhere(engine, X, y, *more)
        if self.client is not None:
            raise ValueError(
                f"client is for rows on a cluster, and X is {type(X).__name__}: give a data frame of Dask, or leave client out"
            )
        memory = _arguments.memory(self.memory)
        self._classifier = self._scores = None  # An earlier classifier must not outlive a fit that fails.
        self._check_estimator(sample_weight is not None)
        check_order(y, X)
        sensitive_features, sample_weight, groups = (
            aligned(values, X, name)
            for values, name in (
                (sensitive_features, "sensitive_features"),
                (sample_weight, "sample_weight"),
                (groups, "groups"),
            )
        )
        X = _arguments.features(X, self)
        if self.estimator is not None and isinstance(X, _fairgame.Table):
            raise ValueError("an estimator needs X as an array or as a frame of pandas or polars")
        nameless = np.empty((1, 1))  # scikit-learn does not know the names of a table.
        validate_data(self, nameless if isinstance(X, _fairgame.Table) else X, reset=True, skip_check_array=True)
        self._layout, rows = Layout.fitted(X, y, sensitive_features)
        self.n_features_in_ = len(self._layout.columns)
        weights = _arguments.weights(sample_weight, rows.rows)
        objective = str(self.objective)
        if self.class_weight is not None:
            positive = _arguments.labels(y, rows.rows) == self._layout.classes[1]
            objective = _objective.weighted(objective, self.class_weight, self._layout.classes, positive, weights)
        rows = self._layout.weighted(rows, weights)
        rows = self._layout.with_units(rows, groups)
        val = None
        if validation is not None:
            if self.datasets == "one":
                raise ValueError('validation is of no use with datasets="one"')
            more = ("sensitive_features", "sample_weight", "groups")
            *parts, val_groups = _arguments.parts(validation, "validation", more)
            if (parts[3] is None) != (sample_weight is None):
                raise ValueError("give a sample_weight for the rows of training and of validation, or for neither")
            if not isinstance(groups, str) and (val_groups is None) != (groups is None):
                raise ValueError("give groups for the rows of training and of validation, or for neither")
            val_groups = aligned(val_groups, parts[0], "groups")
            val = self._layout.with_units(self._layout.weighted(*self._rows(*parts)), val_groups)
        unit = groups if groups is None or isinstance(groups, str) else self._layout.unit_column
        policy = self._policy(sample_weight is not None, unit, objective)
        if self.estimator is not None:
            if self.datasets is None and validation is None:
                # However many rows there are: an estimator is fitted in folds.
                policy["datasets"] = {"cross": {"folds": 5}}
            ignored = self._ignored(policy, unit)
            X = _wrapped.columns_of(X, self._layout.columns, ignored)
            scores, judged = self._fit_estimators(X, y, sample_weight, policy, rows, val, ignored)
            held_out = (X, rows, weights)
            policy["model"], rows = scores.model, scores.beside(rows, X, apart=True)
            if val is not None:
                others = _arguments.features(validation[0], self)
                others = _wrapped.columns_of(others, self._layout.columns, ignored)
                held_out = (others, val, _arguments.weights(parts[3], val.rows))
                val = scores.beside(val, others)
            self._scores = scores
        with Bar(self.verbose) as progress, help_with_groups():
            policy, threads = _arguments.to_json(policy), _arguments.threads(self.n_jobs)
            classifier, result = _fairgame.train(policy, rows, val, threads, progress, memory)
        classifier = classifier.with_labels(_arguments.to_json(self._layout.classes.tolist()))
        self._keep(classifier, self._layout, json.loads(result))
        if self._scores is not None:
            X, rows, weights = held_out
            more = (X, rows, judged, weights, _arguments.seed(self.random_state))
            self.importance_ = _importance.importance(self._scores, classifier, self.features_in_use_, *more)
        unseen = [f"prefit=True: the scores of the estimator {UNSEEN}"] if self.prefit else []
        for warning in [*unseen, *self.warnings_]:
            warnings.warn(warning, FairGameWarning, stacklevel=2)
        return self

    def _fit_elsewhere(
        self, engine: Any, X: Any, y: Any, sensitive: Any, weight: Any, groups: Any, validation: Any
    ) -> Self:
        """Trains on the workers of a cluster, whose frame X is."""
        self._classifier = self._scores = None
        one_place = {
            "estimator": self.estimator,
            "group_estimator": self.group_estimator,
            "prefit": self.prefit or None,
            "class_weight": self.class_weight,
            "validation": validation,
        }
        if given := [name for name, value in one_place.items() if value is not None]:
            raise ValueError(f"{given[0]} is for rows in one place: leave it out, or give rows that fit into memory")
        X, label, labels = engine._labelled(X, y, self.client)
        columns = list(X.columns if hasattr(X, "map_partitions") else X.columns())
        named = {"sensitive_features": sensitive, "sample_weight": weight, "groups": groups}
        for name, value in named.items():
            several = name == "sensitive_features" and isinstance(value, (list, tuple))
            if not (value is None or isinstance(value, str) or several):
                raise ValueError(f"{name} names columns of the frame where rows are on a cluster")
            check_columns(list(value) if several else value, columns=columns)
        features = tuple(one for one in columns if one not in (label, weight))
        self._layout = Layout.elsewhere(label, labels, features)
        self.n_features_in_, self.feature_names_in_ = len(features), np.array(features, dtype=object)
        policy = {**self._policy(weight is not None, groups, str(self.objective)), "weight": weight}
        more = {"n_jobs": self.n_jobs, "memory": self.memory, "checkpoint": None, "resume": False, "verbose": self.verbose}
        with help_with_groups():
            classifier, result = engine._trained(_arguments.to_json(policy), X, self.client, **engine.OF_FIT, **more)
        classifier = classifier.with_labels(_arguments.to_json(self._layout.classes.tolist()))
        self._keep(classifier, self._layout, result)
        for warning in self.warnings_:
            warnings.warn(warning, FairGameWarning, stacklevel=3)
        return self

    def __sklearn_clone__(self) -> Self:
        # A connection cannot be copied.
        client, self.client = self.client, None
        try:
            made = super().__sklearn_clone__()
        finally:
            self.client = client
        made.client = client
        return made

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "client": None}

    def _check_estimator(self, weighted: bool) -> None:
        if self.estimator is None:
            if self.group_estimator is not None:
                raise ValueError("group_estimator goes with estimator: our own models have trees for groups")
            if self.prefit:
                raise ValueError("prefit=True, and there is no estimator: give one, or leave prefit out")
            return
        if self.model != "auto":
            raise ValueError(f"model is {self.model!r} and estimator {self.estimator!r}: give one of them")
        algorithm = self.algorithm if isinstance(self.algorithm, str) else next(iter(self.algorithm or ["auto"]))
        if self.recipe != "recommended" or algorithm not in ("auto", "plug_in"):
            raise ValueError("an estimator goes with the recommended recipe and the algorithm plug_in: leave them out")
        datasets = self.datasets if isinstance(self.datasets, str) else next(iter(self.datasets or ["cross"]))
        if datasets in ("one", "two"):
            raise ValueError(f"datasets is {datasets!r}: an estimator is fitted in folds, or judged on validation rows")
        _wrapped.check(self.estimator, weighted, self.prefit)
        if self.group_estimator is not None:
            _wrapped.check_groups(self.group_estimator, weighted)

    def _fit_estimators(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        policy: dict[str, Any],
        rows: _fairgame.Table,
        val: _fairgame.Table | None,
        ignored: tuple[str, ...],
    ) -> tuple[_wrapped.Scores, list[np.ndarray]]:
        """The estimator fitted in each fold, or the one that was fitted before; and the rows that judge each."""
        positive, text = self._layout.classes.tolist()[1], _arguments.to_json(policy)
        weights = _arguments.weights(sample_weight, rows.rows)
        with help_with_groups():
            folds = _fairgame.folds(text, rows, val)
            patterns, sets = self._patterns(text, rows, val)
        def taught_by(estimator: Any) -> list[np.ndarray]:
            """The rows that teach in each fold: all but those that judge it, if others calibrate its probabilities."""
            if len(folds) == 1 or not _wrapped.has_probabilities(estimator):
                return [teach for teach, _, _ in folds]
            return [np.sort(np.concatenate([teach, aside])) for teach, aside, _ in folds]

        if self.prefit:
            columns = [name for name in self._layout.columns if name not in ignored]
            _wrapped.check_columns(self.estimator, columns, ignored, self._layout.named)
            fitted = (self.estimator,)
        else:
            y = _arguments.labels(y, rows.rows)
            fitted = _wrapped.fit_folds(self.estimator, X, y, weights, taught_by(self.estimator), self.n_jobs)
        columns, groups = _names("score", len(fitted), rows), None
        if sets:
            others = _wrapped.fit_folds(
                self.group_estimator, X, patterns, weights, taught_by(self.group_estimator), self.n_jobs
            )
            groups = _wrapped.Groups(others, _names("group", len(folds) * len(sets), rows), sets)
        judged = [judge for _, _, judge in folds]
        return _wrapped.Scores(fitted, columns, positive, not self.prefit, groups, ignored), judged

    def _ignored(self, policy: Mapping[str, Any], unit: str | None) -> tuple[str, ...]:
        """The columns of X that are no features: those that settings ignore, the unit's and the label's."""
        no_features = {*policy["encoder"]["ignore"], unit, self._layout.label_column}
        ignored = tuple(name for name in self._layout.columns if name in no_features)
        if len(ignored) == len(self._layout.columns):
            raise ValueError("no column of X is a feature: the estimator has nothing to learn from")
        return ignored

    def _patterns(
        self, policy: str, rows: _fairgame.Table, val: _fairgame.Table | None
    ) -> tuple[np.ndarray, tuple[tuple[int, ...], ...]]:
        """What `group_estimator` has to learn of each row, and the sets of it whose probabilities are needed."""
        if self.group_estimator is None:
            return np.empty(0), ()
        _, patterns, sets = _fairgame.patterns(policy, rows, val)
        if not sets:
            raise ValueError(
                "group_estimator is given, and there are no groups to model: constraints name none, or columns of X only"
            )
        return patterns.astype(np.int64), tuple(map(tuple, sets))

    def _policy(self, weighted: bool, unit: str | None, objective: str) -> dict[str, Any]:
        more = dict(self.settings or {})
        own = self._policy_arguments()
        if clash := sorted({*FITTED, *own} & set(more)):
            key = clash[0]
            raise ValueError(f"settings: `{key}` is an argument of its own, {FITTED.get(key, key)}")
        encoder = dict(more.pop("encoder", None) or {})
        encoder["ignore"] = [*encoder.get("ignore", []), *self._layout.groups]
        # None leaves a setting to the recipe.
        return {
            **{key: getattr(self, key) for key in own},
            "selection": _selection.joined(self.selection, self.margin, self.deterministic),
            "label": self._layout.label,
            "objective": objective,
            "constraints": _arguments.constraint_texts(self.constraints),
            "seed": _arguments.seed(self.random_state),
            "weight": self._layout.weight_column if weighted else None,
            "unit": unit,
            "encoder": encoder,
            "checks": "tell",  # Who gives X has chosen its columns.
            **more,
        }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags


def _names(name: str, count: int, rows: _fairgame.Table) -> tuple[str, ...]:
    """Names of columns that the rows do not have."""
    while any(one.startswith(name) for one, _ in rows.columns):
        name += "_"
    return tuple(f"{name}{at}" for at in range(count))
