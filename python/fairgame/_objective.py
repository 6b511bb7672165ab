"""The objective under class weights.

With weights a and b of errors on negative and on positive labels, and p the share of positive rows by weight, the
weighted error over its largest value is

    (a·(1 − p)·fpr() + b·p·fnr()) / (a·(1 − p) + b·p).

Balanced weights are a = 1 / (1 − p) and b = 1 / p, so that both rates count 1/2.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np

from ._fairgame import shown


def weighted(
    objective: str, class_weight: Any, classes: np.ndarray, positive: np.ndarray, weights: np.ndarray | None
) -> str:
    """The text of the objective in which errors on each label have these weights."""
    if objective.replace(" ", "") != "error()":
        raise ValueError(
            f"class_weight weighs the errors of the objective error(), and objective is `{shown(objective)}`: write the"
            " weights into it, as in `0.3 * fpr() + 0.7 * fnr()`"
        )
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise ValueError(f'class_weight is "balanced", a dict of weights or None, and not {class_weight!r}')
        return "0.5 * fpr() + 0.5 * fnr()"
    if not isinstance(class_weight, Mapping):
        raise ValueError(f'class_weight is "balanced", a dict of weights or None, and not {class_weight!r}')
    labels = classes.tolist()
    if unknown := [label for label in class_weight if label not in labels]:
        text = ", ".join(shown(repr(label)) for label in unknown)
        raise ValueError(f"class_weight names {text}, and the labels are {shown(repr(labels))}")
    negative_weight, positive_weight = (_weight(class_weight.get(label, 1.0), label) for label in labels)
    share = float(np.average(positive, weights=weights))
    on_negatives, on_positives = negative_weight * (1 - share), positive_weight * share
    if (total := on_negatives + on_positives) == 0:
        raise ValueError("class_weight is 0 for all labels: there is nothing to minimise")
    return f"{on_negatives / total!r} * fpr() + {on_positives / total!r} * fnr()"


def _weight(weight: Any, label: Any) -> float:
    if not isinstance(weight, numbers.Real) or not 0 <= float(weight) < math.inf:
        raise ValueError(f"class_weight of {shown(repr(label))} is {weight!r}: give a number of at least 0")
    return float(weight)
