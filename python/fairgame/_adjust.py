"""Constraints over the scores of a model that is trained already, in whatever library or language."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from . import _arguments, _fairgame, _selection
from ._align import aligned
from ._estimator import FairGameClassifier
from ._fairgame import Table, shown
from ._layout import unused
from ._progress import Bar
from ._said import UNSEEN, FairGameWarning
from ._table import back, column, table


def adjust(
    scores: Any,
    data: Any,
    *,
    label: str,
    constraints: Iterable[Any],
    objective: Any = "error()",
    margin: float | str | Mapping[str, Any] | None = None,
    deterministic: bool = False,
    scale: str = "probability",
    name: str = "score",
    ignore: Iterable[str] = (),
    classes: Iterable[Any] | None = None,
    sample_weight: Any = None,
    unit: Any = None,
    settings: Mapping[str, Any] | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int | str = "auto",
) -> FairGameClassifier:
    """Puts constraints over the scores of any model, as `fairgame train --score` does.

    Parameters
    ----------
    scores : array of shape (n,), or str
        What the model says of each row, or the column of `data` that has it. The model must not have been trained on these rows: otherwise the scores look
        better than they are, and the constraints hold less often on new rows than is said.
    data : frame, dict of arrays, or path of a file
        The same rows, with the label and the groups as columns.
    label : str
        The condition that makes a row positive, such as `'hired == "yes"'`.
    constraints, objective, margin, deterministic, random_state, n_jobs, verbose
        As of `FairGameClassifier`.
    scale : "probability" or "log_odds"
        What the scores are.
    name : str
        What the column of scores is called in the tables of the classifier; that of `data`, if `scores` names one.
    ignore : list of str
        Columns that are not known when a row is decided. Groups by these columns are modelled by boosted trees from
        the other columns.
    classes : two labels
        What decisions are called: the negative label, then the positive one. Without it they are False and True.
    sample_weight : array of shape (n,)
        The weight of each row.
    unit : str or array of shape (n,)
        Which rows belong together, such as those of one person: a column of the data, or one identifier per row.
    settings : dict
        Any other key of a policy.

    Returns
    -------
    FairGameClassifier
        Its tables have the scores in the column `name`, beside the columns of `data` that it needs.

    Examples
    --------
    >>> import warnings, fairgame, numpy as np
    >>> warnings.simplefilter("ignore", fairgame.FairGameWarning)
    >>> rng = np.random.default_rng(0)
    >>> chance = rng.random(2000)
    >>> people = {"sex": rng.choice(["f", "m"], 2000), "hired": rng.random(2000) < chance}
    >>> rule = fairgame.adjust(chance, people, label="hired", constraints=["tpr(each sex) >= 0.9"])
    >>> rule.predict({"score": [0.05, 0.95], "sex": ["f", "m"]}).tolist()
    [False, True]
    """
    if classes is not None and len(classes := list(classes)) != 2:
        raise ValueError("classes are two labels: the negative one, then the positive one")
    if not isinstance(label, str):
        raise ValueError(f"label is a condition such as 'hired == \"yes\"', and not {shown(repr(type(label)))}")
    rows = table(data)
    if isinstance(scores, str):
        # The name of a column, as of `train --score`.
        rows, scores, name = _taken(rows, scores, name)
    scores, unit = aligned(scores, data, "scores", "the data"), aligned(unit, data, "unit", "the data")
    taken = [known for known, _ in rows.columns]
    if name in taken:
        raise ValueError(f"the data have a column `{shown(name)}` already: give the scores another name")
    more: list[tuple[str, Any]] = [(name, _checked(scores, rows.rows, scale))]
    given = dict(settings or {})
    own = {"label", "objective", "constraints", "model", "selection", "weight", "unit", "seed"}
    if clash := sorted(own & set(given)):
        raise ValueError(f"settings: `{clash[0]}` is an argument of its own, or follows from others")
    encoder = dict(given.pop("encoder", None) or {})
    policy = {
        **given,
        "label": str(label),
        "objective": str(objective),
        "constraints": _arguments.constraint_texts(constraints),
        "model": {"scores": {"columns": [name], "scale": scale}},
        "selection": _selection.joined(None, margin, deterministic),
        "seed": _arguments.seed(random_state),
        "encoder": {**encoder, "ignore": [*encoder.get("ignore", []), *_names(ignore)]},
    }
    weights = _arguments.weights(aligned(sample_weight, data, "sample_weight", "the data"), rows.rows)
    if weights is not None:
        policy["weight"] = unused("weight", [*taken, name])
        more.append((policy["weight"], weights))
    if unit is not None:
        _arguments.units(unit, rows)
        policy["unit"] = unit if isinstance(unit, str) else unused("unit", [*taken, name])
        if not isinstance(unit, str):
            more.append((policy["unit"], column(column_or_1d(unit), "unit")))
    rows = rows.beside(Table.from_columns(more))
    with Bar(verbose) as progress:
        text = _arguments.to_json(policy)
        classifier, result = _fairgame.train(text, rows, None, _arguments.threads(n_jobs), progress)
    if classes is not None:
        classifier = classifier.with_labels(_arguments.to_json(classes))
    made = FairGameClassifier._of(classifier, classes, result=json.loads(result))
    for warning in [f"the scores {UNSEEN}", *made.warnings_]:
        warnings.warn(warning, FairGameWarning, stacklevel=2)
    return made


def _taken(rows: Table, column: str, name: str) -> tuple[Table, np.ndarray, str]:
    """The other columns, the scores in this one, and what the scores are called: by its name, unless another is given."""
    names = [known for known, _ in rows.columns]
    if column not in names:
        raise ValueError(f"scores is {column!r}, and the data have no such column")
    values = back(rows, column)
    if isinstance(values, tuple) or values.dtype != np.float64:
        raise ValueError(f"column `{shown(column)}` has no numbers, and scores are numbers")
    others = [(known, back(rows, known)) for known in names if known != column]
    return Table.from_columns(others), values, column if name == "score" else name


def _checked(scores: Any, rows: int, scale: str) -> np.ndarray:
    """One score per row, on its scale."""
    try:
        found = np.array(scores, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"scores are numbers: {error}") from None
    if found.ndim != 1:
        raise ValueError(f"scores are one number a row, such as predict_proba(X)[:, 1], and not of shape {found.shape}")
    if len(found) != rows:
        raise ValueError(f"{len(found)} scores are given for {rows} rows")
    if scale not in ("probability", "log_odds"):
        raise ValueError(f'scale is "probability" or "log_odds", and not {scale!r}')
    found, wrong = _arguments.probabilities(found) if scale == "probability" else (found, ~np.isfinite(found))
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        if np.isnan(found[row]):
            raise ValueError(f"row {row} has no score: give every row one, or leave the row out")
        more = ': give scale="log_odds" if they are log-odds' if scale == "probability" else ""
        raise ValueError(f"row {row} has the score {found[row]}, which is no {scale.replace('_', '-')}{more}")
    return found


def _names(ignore: Any) -> list[str]:
    return [ignore] if isinstance(ignore, str) else list(ignore)
