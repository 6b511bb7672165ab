"""Classifiers trained under data-dependent constraints that hold on unseen data.

>>> import fairgame
>>> fairgame.FairGameClassifier(constraints=["recall() >= 0.9"])
FairGameClassifier(constraints=['recall() >= 0.9'])
"""

from __future__ import annotations

import json
import os
import warnings as _warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted as _check_is_fitted

from . import _arguments, _decisions, _fairgame, _policy, rates
from ._adjust import adjust
from ._align import aligned as _aligned
from ._estimator import FairGameClassifier
from ._evaluation import Evaluation
from ._fairgame import Table, __version__
from ._progress import Bar as _Bar
from ._said import FairGameWarning
from ._scorer import scorer
from ._table import frame as _frame
from ._table import table as _table
from ._trained import DecisionDistribution

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "DecisionDistribution",
    "Evaluation",
    "FairGameClassifier",
    "FairGameWarning",
    "Table",
    "__version__",
    "adjust",
    "audit",
    "check_data",
    "dataset",
    "evaluate",
    "folds",
    "groups",
    "load",
    "rates",
    "read",
    "scorer",
    "train",
]


def train(
    policy: Mapping[str, Any] | str | os.PathLike[str],
    data: Any,
    *,
    validation: Any = None,
    margin: float | str | Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    memory: int | str | None = None,
    verbose: int | str = "auto",
) -> FairGameClassifier:
    """Trains by a policy, on a table with the label and the groups as columns, as `fairgame train` does.

    The policy is a mapping with the keys of a policy file, or the path of one. The table is a frame, a dict of
    arrays, or the path of a file or folder, which may be larger than memory. `margin` replaces that of the policy, as `--margin` does: it is as of
    `FairGameClassifier`. Where several rows are of one person, the policy's `unit` names the column that says which.
    `memory` is as of `FairGameClassifier`. Warnings are in `warnings_`.

    >>> import fairgame, numpy as np
    >>> ages = np.arange(20, 60)
    >>> policy = {"label": "hired", "constraints": ["recall() >= 0.9"], "algorithm": {"practical": {"turns": 500}}}
    >>> model = fairgame.train(policy, {"age": ages, "hired": ages > 35})
    >>> bool(model.predict({"age": ages}).any())
    True
    """
    settings = _policy.text(policy, margin)
    rows, val = (None if one is None else _rows(one) for one in (data, validation))
    threads, budget = _arguments.threads(n_jobs), _arguments.memory(memory)
    with _Bar(verbose) as progress:
        classifier, result = _fairgame.train(settings, rows, val, threads, progress, budget)
    return FairGameClassifier._of(classifier, result=json.loads(result))


def _rows(data: Any) -> Table | list[str]:
    """A table, or the name of a file, whose rows are read in chunks where they are plenty."""
    return [os.fspath(data)] if isinstance(data, (str, os.PathLike)) else _table(data)


def folds(
    policy: Mapping[str, Any] | str | os.PathLike[str], data: Any, *, validation: Any = None
) -> list[tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]]:
    """The rows of each fold that a training by this policy has, for those who bring scores of a model of their own for each.

    Of each fold: the rows to train on; those that are set aside, from which a model that gives probabilities may learn, too;
    and those that judge it. The scores of fold k are the k-th of the policy's `model.scores.columns`.

    >>> import fairgame, numpy as np
    >>> ages = np.arange(20, 60)
    >>> found = fairgame.folds({"label": "hired", "constraints": ["recall() >= 0.9"]}, {"age": ages, "hired": ages > 35})
    >>> len(found), sorted(int(row) for _, _, judge in found for row in judge) == list(range(40))
    (5, True)
    """
    val = None if validation is None else _table(validation)
    found = _fairgame.folds(_policy.text(policy), _table(data), val)
    return [(teach, aside, judge) for teach, aside, judge in found]


def load(
    path: str | os.PathLike[str], *, classes: Iterable[Any] | None = None, trusted: Iterable[str] | None = None
) -> FairGameClassifier:
    """Reads a model file that Python or the command line wrote; see `FairGameClassifier.load`."""
    return FairGameClassifier.load(path, classes=classes, trusted=trusted)


def read(*paths: str | os.PathLike[str], max_field: int | None = None, max_record: int | None = None) -> Table:
    """Reads files as the command line does: CSV, Parquet or Arrow, compressed or not, a folder, or `@adult`.

    A text of more than `max_field` bytes (64 MiB), or a row of CSV of more than `max_record` (128 MiB), is an error.
    """
    return Table.read([os.fspath(path) for path in paths], max_field, max_record)


def dataset(name: str) -> Any:
    """A dataset of this package, as a frame of pandas: `adult`, `adult/test`, `compas` or `communities`.

    >>> import fairgame
    >>> fairgame.dataset("adult").shape
    (32561, 15)
    """
    return _frame(Table.read([f"@{name}"]))


def evaluate(
    classifier: FairGameClassifier | str | os.PathLike[str],
    data: Any,
    *,
    sample_weight: Any = None,
    unit: Any = None,
    confidence: float = 0.95,
) -> Evaluation:
    """Evaluates a classifier, or that of a model file, as `fairgame evaluate` does.

    The table has the label and the groups as columns. Where several rows are of one person, `unit` says which: it is
    the name of a column, or an array with one identifier per row. Intervals are then those of independent units.
    """
    if isinstance(classifier, (str, os.PathLike)):
        classifier = load(classifier)
    _check_is_fitted(classifier)
    rows, unit = classifier._table(data), _aligned(unit, data, "unit")
    weight = _arguments.weights(_aligned(sample_weight, data, "sample_weight"), rows.rows)
    found, notes = classifier._classifier.evaluate(rows, weight, confidence, _arguments.units(unit, rows))
    for note in notes:
        _warnings.warn(note, FairGameWarning, stacklevel=2)
    return Evaluation(json.loads(found), notes)


def audit(
    data: Any,
    predictions: Any,
    *,
    label: str,
    constraints: Iterable[Any],
    objective: Any = "error()",
    positive: Any = None,
    sample_weight: Any = None,
    unit: Any = None,
    confidence: float = 0.95,
) -> Evaluation:
    """Evaluates decisions of any origin: booleans, 0 and 1, probabilities of a positive decision, or labels.

    Predictions that are texts are positive where they are the value of the label, as in `income == ">50K"`. For another
    label, or labels that are numbers, `positive` says which of them is the positive one. `unit` is as of `evaluate`.

    >>> import fairgame, numpy as np
    >>> sex, able = np.array(["f", "m"] * 50), np.array([True, True, False, False] * 25)
    >>> found = fairgame.audit({"sex": sex, "able": able}, able, label="able", constraints=["tpr(each sex) >= 0.5"])
    >>> found.verdict
    'met'
    """
    policy = _policy.of_audit(label, objective, constraints)
    rows, unit = _table(data), _aligned(unit, data, "unit")
    weight = _arguments.weights(_aligned(sample_weight, data, "sample_weight"), rows.rows)
    chances = _decisions.chances(_aligned(predictions, data, "predictions"), str(label), positive, rows)
    found, notes = _fairgame.audit(policy, rows, chances, weight, confidence, _arguments.units(unit, rows))
    return Evaluation(json.loads(found), notes)


def check_data(
    data: Any,
    *,
    label: str | None = None,
    constraints: Iterable[Any] = (),
    ignore: Iterable[str] = (),
    features: Iterable[str] = (),
    missing: Iterable[str] = (),
    n_jobs: int | None = None,
) -> list[dict[str, Any]]:
    """Checks data before training, as `fairgame data check` does: a list of what was found.

    Each finding is a dict with the key `finding`: `"leak"` is a column that alone predicts the label, `"identifier"` a
    column that is different in nearly every row, `"protected"` has features that constraints look at or that are named
    like protected attributes, `"copies"` are equal rows, `"one_label"` and `"missing_labels"` are about the label, and
    `"small_group"` is a rate of a constraint with too few rows. `message` says it in words, and `serious` whether it
    stands in the way of a model that can be trusted. `left_out` says whether `fairgame.train` leaves the column out.

    `ignore` has columns that are no features, `features` those that stay features whatever is found. `missing` has further
    texts that stand for a missing value, if `data` is the name of a file.

    >>> import fairgame
    >>> found = fairgame.check_data("@compas", label="two_year_recid == 1")
    >>> [one["column"] for one in found if one["finding"] == "leak"]
    ['is_recid']
    """
    policy = {
        "label": str(label or ""),
        "constraints": _arguments.constraint_texts(constraints),
        "features": list(features),
        "encoder": {"ignore": list(ignore)},
    }
    markers = _arguments.to_json({"also": list(missing)})
    is_file = isinstance(data, (str, os.PathLike))
    rows = Table.read([os.fspath(data)], missing=markers) if is_file else _table(data)
    return json.loads(_fairgame.check_data(_arguments.to_json(policy), rows, _arguments.threads(n_jobs)))


def groups(
    data: Any,
    predictions: Any,
    *,
    by: Any,
    label: str | None = None,
    score: Any = None,
    positive: Any = None,
    sample_weight: Any = None,
    unit: Any = None,
    confidence: float = 0.95,
) -> Any:
    """How groups fare under decisions of any origin, as a frame of pandas with a row for each group.

    `by` is the name of a column, or a list with an entry for each grouping: the name of a column, or a list of names for
    the combinations of their values. Rows without a value are a group of their own, with NaN as the value. The first row of
    the frame is for all rows.

    The columns are `rows`, `weight`, `share`; with a `label` also `base_rate`, `tpr`, `fpr`, `precision`, `error` and the
    weights `true_positive`, `false_positive`, `false_negative`, `true_negative`; `selection_rate`; `ratio_to_highest`, the
    selection rate over the highest of the grouping, and `four_fifths`, the four-fifths rule: whether that ratio is at least
    0.8 in the population (`"met"`, `"violated"` or `"undecided"`); `ratio`, the selection rate over that of all rows, and
    `four_fifths_of_all`, whether that one is at least 0.8. With a label and scores there is `auc`. A rate `x` has its
    interval in `x_low` and `x_high`, at `confidence` for itself alone.

    `score` is the name of a column or an array; without it, predictions that are probabilities are the scores. Predictions,
    `positive`, `sample_weight` and `unit` are as of `audit`. The frame's `attrs` has `rows`, `confidence` and `warnings`.

    >>> import fairgame, numpy as np
    >>> sex, able = np.array(["f", "m"] * 50), np.array([True, True, False, False] * 25)
    >>> found = fairgame.groups({"sex": sex, "able": able}, able, by="sex", label="able")
    >>> found["selection_rate"].tolist()
    [0.5, 0.5, 0.5]
    """
    from . import _groups

    rows, unit = _table(data), _aligned(unit, data, "unit")
    weight = _arguments.weights(_aligned(sample_weight, data, "sample_weight"), rows.rows)
    given = _aligned(predictions, data, "predictions")
    chances = _decisions.chances(given, str(label or ""), positive, rows)
    scores = _groups.scores(_aligned(score, data, "score"), chances, rows)
    told = None if label is None else str(label)
    found, notes = _fairgame.groups(
        _groups.groupings(by), told, rows, chances, scores, weight, confidence, _arguments.units(unit, rows)
    )
    return _groups.frame(json.loads(found), notes)


if TYPE_CHECKING:
    from . import plot as plot
else:

    def __getattr__(name):
        # Figures need matplotlib, which not everyone has.
        if name == "plot":
            import importlib

            return importlib.import_module(".plot", __name__)
        raise AttributeError(f"module 'fairgame' has no attribute {name!r}")
