"""The gradient game with a model of any framework: arrays of scores in, arrays of slopes out.

The library plays the constraint player of Algorithm 3 or 4; you have the model. Each turn you give the scores of a few
training rows and get the slope of the Lagrangian in each score, which your framework takes back to the parameters; then
you give the scores of a few validation rows, from which the constraint player learns. Now and then a model is kept, by
its scores of all rows. At the end the best mixture of the kept models is selected, as with our own models.

`fairgame.torch` is this for modules of torch.
"""

from __future__ import annotations

import json
import numbers
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _arguments, _fairgame, _selection
from ._align import aligned
from ._estimator import FairGameClassifier
from ._evaluation import Evaluation
from ._fairgame import Table
from ._said import FairGameWarning
from ._table import back
from ._table import table as _table

Array = NDArray[Any]

__all__ = ["Game", "Mixture"]


class Game:
    """A game of Algorithm 3 or 4 whose model player is yours.

    Parameters
    ----------
    train : frame, dict of arrays, or path of a file
        The training rows, with the label and the groups as columns. Rows are numbered from 0.
    label : str
        The condition that makes a row positive, such as `'hired == "yes"'`.
    constraints, objective, margin, selection, recipe, random_state
        As of `FairGameClassifier`.
    validation : frame, dict of arrays, or path of a file
        The rows that constraints are enforced on. Without them they are enforced on the training rows (one dataset).
    algorithm : "practical" or "lagrangian"
        Algorithm 3 (swap regret) or Algorithm 4 (ascent on Lagrange multipliers).
    turns : int
        How many turns are played; in each, a model takes one step.
    keep : int
        How many of the turns' models are kept, evenly spaced. The scores of all rows are held for each.
    constraint : dict
        Settings of the constraint player, such as `{"optimizer": {"adam": {"step": 0.01}}}`.
    surrogate : "hinge", "sigmoid", "logistic" or "ramp"
        What stands in for decisions where a slope is needed.
    weight, unit : str
        The columns with the weight of each row, and with which rows belong together.
    classes : two labels
        What decisions are called: the negative label, then the positive one. Without it they are False and True.

    Examples
    --------
    A linear model, written out:

    >>> import numpy as np
    >>> from fairgame.arrays import Game
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 2))
    >>> y = X[:, 0] + rng.normal(size=2000) > 0
    >>> game = Game({"y": y}, label="y", constraints=["recall() >= 0.9"], turns=500, keep=20)
    >>> theta = np.zeros(2)
    >>> for rows, judging in game.batches(100):
    ...     if game.keeps:
    ...         number = game.keep(X @ theta)
    ...     slopes = game.slopes(X[rows] @ theta, rows)
    ...     losses = game.judge(X[judging] @ theta, judging)
    ...     theta -= 0.05 * X[rows].T @ slopes
    >>> mixture = game.select()
    >>> mixture.rule.evaluations_["train"].constraints[0]["value"] <= 1e-6
    True
    """

    _name = "arrays"

    def __init__(
        self,
        train: Any,
        *,
        label: str,
        constraints: Iterable[Any],
        objective: Any = "error()",
        validation: Any = None,
        algorithm: str = "practical",
        turns: int = 5000,
        keep: int = 100,
        constraint: Mapping[str, Any] | None = None,
        surrogate: str | None = None,
        recipe: str = "recommended",
        selection: str | Mapping[str, Any] | None = None,
        margin: float | str | Mapping[str, Any] | None = None,
        weight: str | None = None,
        unit: str | None = None,
        classes: Iterable[Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        if algorithm not in ("practical", "lagrangian"):
            raise ValueError(f'algorithm is "practical" or "lagrangian", and not {algorithm!r}')
        settings: dict[str, Any] = {"turns": turns}
        if constraint is not None:
            settings["constraint"] = dict(constraint)
        if not isinstance(keep, numbers.Integral) or not 1 <= keep:
            raise ValueError(f"keep is a number of models, and not {keep!r}")
        self._seed = _arguments.seed(random_state)
        policy = {
            "label": str(label),
            "objective": str(objective),
            "constraints": _arguments.constraint_texts(constraints),
            "algorithm": {algorithm: settings},
            "keep": min(int(keep), turns),
            "recipe": recipe,
            "selection": _selection.joined(selection, margin),
            "surrogate": surrogate,
            "weight": weight,
            "unit": unit,
            "seed": self._seed,
        }
        val = None if validation is None else _table(validation)
        text = _arguments.to_json(policy)
        self._game = _fairgame.Game(text, self._name, _table(train), val, _arguments.threads(n_jobs))
        self._one = val is None
        self._classes = None if classes is None else list(classes)
        self.constraints_: list[str] = self._game.constraints

    @property
    def keeps(self) -> bool:
        """Whether the model of this turn is one to keep."""
        return self._game.keeps

    @property
    def turn(self) -> int:
        """How many turns were played."""
        return self._game.turns[0]

    @property
    def turns(self) -> int:
        """How many turns there are."""
        return self._game.turns[1]

    @property
    def multipliers(self) -> tuple[float, Array]:
        """What the constraint player plays this turn: the weight of the objective, and that of each constraint."""
        return self._game.multipliers

    def batches(self, size: int, validation_size: int | None = None) -> Iterator[tuple[Array, Array]]:
        """For each turn that is left, the numbers of some training rows and of some rows to judge by.

        All rows are drawn, in a seeded random order, before any is drawn again.
        """
        rows = self._game.rows
        sizes = (size, validation_size or size)
        draws = [_epochs(of, least, [self._seed, at]) for at, (of, least) in enumerate(zip(rows, sizes))]
        while self.turn < self.turns:
            before = self.turn
            yield next(draws[0]), next(draws[1])
            if self.turn == before:
                raise ValueError("the turn was not ended: call judge once in each turn, after slopes")

    def slopes(self, scores: Any, rows: Any = None) -> Array:
        """The slope of the Lagrangian in each score of these training rows; without `rows`, of all of them.

        For some rows it is an estimate for all: the sum of slope times score derivative is an unbiased estimate of the
        gradient over all training rows.
        """
        return self._game.slopes(_scores(scores), _rows(rows))

    def lagrangian(self, scores: Any, rows: Any = None) -> float:
        """The Lagrangian whose slopes are `slopes`: the proxies of objective and constraints, weighted."""
        objective, constraints = self._game.measure(_scores(scores), _rows(rows), proxy=True)
        by_objective, by_constraint = self.multipliers
        return float(by_objective * objective + np.dot(by_constraint, constraints))

    def measure(self, scores: Any, rows: Any = None, *, validation: bool = False) -> tuple[float, Array]:
        """The objective, and the loss of each constraint, of deciding these rows by their scores."""
        return self._game.measure(_scores(scores), _rows(rows), val=validation)

    def judge(self, scores: Any, rows: Any = None) -> tuple[float, Array]:
        """Ends the turn: the constraint player learns from the scores of these validation rows.

        With one dataset, they are training rows. It returns the objective and the loss of each constraint on them.
        """
        return self._game.judge(_scores(scores), _rows(rows))

    def keep(self, train: Any, validation: Any = None) -> int:
        """Keeps this turn's model by its scores of all training rows, and of all validation rows. Its number, from 0."""
        self._game.keep(_scores(train), None if validation is None else _scores(validation))
        return self._game.turns[2] - 1

    def select(self) -> Mixture:
        """Selects the mixture of the kept models under the constraints, and ends the game."""
        if self._game.turns[2] == 0:
            raise ValueError("no model was kept: call keep where `keeps` is True, before judge")
        classifier, result, columns = self._game.finish()
        if self._classes is not None:
            classifier = classifier.with_labels(_arguments.to_json(self._classes))
        rule = FairGameClassifier._of(classifier, self._classes, result=json.loads(result))
        for warning in rule.warnings_:
            warnings.warn(warning, FairGameWarning, stacklevel=2)
        return Mixture(rule, [name for name, _ in columns], [number for _, number in columns])


class Mixture:
    """The mixture of kept models that was selected. It decides by the scores of its models."""

    def __init__(self, rule: FairGameClassifier, columns: Sequence[str], snapshots: Sequence[int]) -> None:
        self.rule = rule
        """The classifier over columns of scores, with all attributes of a `FairGameClassifier`."""
        self.columns = list(columns)
        """The column of scores of each model."""
        self.snapshots = list(snapshots)
        """The number of each model among those kept."""

    def predict(self, scores: Any, *, keys: Any = None) -> Array:
        """The decision for each row, by the scores of each model: an array of shape (rows, models).

        A model is drawn by a hash of the row's scores, or of `keys`, one identifier per row.
        """
        return self.rule.predict(self.table(scores), keys=keys)

    def predict_proba(self, scores: Any) -> Array:
        """The probability of each decision, over the draw of a model."""
        return self.rule.predict_proba(self.table(scores))

    def evaluate(
        self, scores: Any, data: Any, *, sample_weight: Any = None, unit: Any = None, confidence: float = 0.95
    ) -> Evaluation:
        """Rates and constraints with verdicts on rows that have the label and the groups as columns of `data`."""
        rows = _table(data).beside(self.table(scores))
        weight = _arguments.weights(aligned(sample_weight, data, "sample_weight"), rows.rows)
        units = _arguments.units(aligned(unit, data, "unit"), rows)
        assert self.rule._classifier is not None
        found, notes = self.rule._classifier.evaluate(rows, weight, confidence, units)
        for note in notes:
            warnings.warn(note, FairGameWarning, stacklevel=2)
        return Evaluation(json.loads(found), notes)

    def table(self, scores: Any) -> Table:
        """Scores of shape (rows, models) as the table that `rule` decides by."""
        found = np.asarray(scores, dtype=np.float64)
        if found.ndim == 1 and len(self.columns) == 1:
            found = found[:, None]
        if found.ndim != 2 or found.shape[1] != len(self.columns):
            models = len(self.columns)
            raise ValueError(f"scores are of shape {found.shape}: give one row per row and one column for each of {models} models")
        if not np.isfinite(found).all():
            raise ValueError(f"row {int(np.flatnonzero(~np.isfinite(found).all(axis=1))[0])} has a score that is no number")
        return Table.from_columns([(name, np.ascontiguousarray(found[:, at])) for at, name in enumerate(self.columns)])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the mixture as a model file. The models themselves are yours to keep: `snapshots` says which."""
        self.rule.save(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, classes: Iterable[Any] | None = None) -> Mixture:
        """Reads a file that `save` wrote."""
        return cls._of(FairGameClassifier.load(path, classes=classes))

    @classmethod
    def _of(cls, rule: FairGameClassifier) -> Mixture:
        assert rule._classifier is not None
        columns = json.loads(rule._classifier.describe())["columns"]
        # The columns are called by the numbers of their models.
        return cls(rule, columns, [int(name.removeprefix("score")) for name in columns])


def _epochs(rows: int, size: int, seed: list[int]) -> Iterator[Array]:
    """Rows in a random order, so many at a time, again and again."""
    if size < 1:
        raise ValueError(f"{size} rows are no minibatch")
    rng, left = np.random.default_rng(seed), np.empty(0, dtype=np.uint32)
    while True:
        while len(left) < min(size, rows):
            left = np.concatenate([left, rng.permutation(rows).astype(np.uint32)])
        taken, left = left[:size], left[size:]
        yield taken


def _halves(rows: Table, unit: str | None, seed: int) -> list[Array]:
    """The rows of two random halves. Rows of one unit are in one half; a row without a unit is one of its own."""
    rng = np.random.default_rng(seed)
    if unit is None:
        return [np.sort(half) for half in np.array_split(rng.permutation(rows.rows), 2)]
    if unit not in (known for known, _ in rows.columns):
        raise ValueError(f"unit is {unit!r}, and the table has no such column")
    values = back(rows, unit)
    values = values[0] if isinstance(values, tuple) else values
    missing = np.isnan(values) if values.dtype.kind == "f" else values < 0
    _, units = np.unique(values, return_inverse=True)
    units = np.where(missing, units.max() + 1 + np.arange(len(units)), units)
    _, units, sizes = np.unique(units, return_inverse=True, return_counts=True)
    order = rng.permutation(len(sizes))
    first = np.zeros(len(sizes), dtype=bool)
    first[order[np.cumsum(sizes[order]) - sizes[order] / 2 <= rows.rows / 2]] = True
    return [np.flatnonzero(first[units] == own) for own in (True, False)]


def _scores(scores: Any) -> Array:
    found = np.asarray(scores)
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if found.ndim != 1:
        raise ValueError(f"scores are one number a row, and not of shape {found.shape}")
    return np.ascontiguousarray(found, dtype=np.float32)


def _rows(rows: Any) -> Array | None:
    if rows is None:
        return None
    found = np.asarray(rows)
    if found.dtype.kind not in "iu" or found.ndim != 1:
        raise ValueError("rows are numbers of rows, from 0")
    if found.size and found.min() < 0:
        raise ValueError(f"there is no row {found.min()}")
    return np.ascontiguousarray(found, dtype=np.uint32)
