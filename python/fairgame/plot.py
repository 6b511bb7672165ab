"""Figures, which need matplotlib.

Each function draws on `ax`, or on a figure of its own, and returns the axes.
"""

from __future__ import annotations

import json
import textwrap
from typing import Any

from ._estimator import FairGameClassifier
from ._evaluation import Evaluation

COLOURS = {"met": "#1a7f37", "violated": "#c62828", "undecided": "#8a6d00"}
MARKERS = {"met": "o", "violated": "X", "undecided": "s"}


def trade_off(
    classifier: FairGameClassifier, constraint: int | str | None = None, slacks: Any = None, ax: Any = None
) -> Any:
    """The objective on new rows against the bounds of the constraints, of one or of all; see `model.trade_off`."""
    found = classifier.trade_off(constraint, slacks)
    points = [one for one in found["points"] if one["feasible"]]
    if not points:
        raise ValueError("there is no trade-off to draw: none of these bounds can be met")
    ax = ax if ax is not None else _axes(6, 4)
    x = [one["slack"] for one in points]
    if all(one["interval"] is not None for one in points):
        low, high = ([one["interval"][end] for one in points] for end in ("low", "high"))
        label = f"interval at {100 * found['confidence']:g} %"
        ax.fill_between(x, low, high, color="#2a5db0", alpha=0.15, linewidth=0, label=label)
    ax.plot(x, [one["estimate"] for one in points], "o-", color="#2a5db0", markersize=4, label="on new rows")
    own = [one for one in points if one["slack"] == 0]
    if own:
        ax.plot([0.0], [own[0]["estimate"]], "*", color="#b3541e", markersize=14, label="the classifier's bounds")
    if "unconstrained" in classifier.baselines_:
        value = classifier.baselines_["unconstrained"].objective["value"]
        ax.axhline(value, color="#55607a", linewidth=0.8, linestyle="--", label="without constraints")
    ax.axvline(0.0, color="#333333", linewidth=0.8)
    ax.xaxis.set_major_locator(_few_ticks())
    which = "all constraints" if found["constraint"] is None else textwrap.fill(found["constraint"], 44)
    ax.set_xlabel(f"slack of {which}: looser to the right")
    ax.set_ylabel(found["objective"])
    ax.legend(frameon=False)
    return ax


def iterates(classifier: FairGameClassifier, ax: Any = None) -> Any:
    """Objective against worst violation, of the models that training kept and of the mixture."""
    ax = ax if ax is not None else _axes(6, 4)
    moments = [one["model"] for one in classifier.iterates_]
    if not moments or moments[0]["worst"] is None:
        raise ValueError("there is nothing to draw: the classifier has no constraints, or remembers no training")
    turns = [one["turn"] for one in classifier.iterates_]
    objectives, worst = [one["objective"] for one in moments], [one["worst"] for one in moments]
    kept = ax.scatter(
        worst, objectives, c=turns, cmap="Blues", s=24, edgecolors="#55607a", linewidths=0.5, label="kept models"
    )
    ax.figure.colorbar(kept, ax=ax, label="turn")
    mixed = {one["turn"]: one["weight"] for one in classifier.mixture_}
    chosen = [(w, o, mixed[t]) for w, o, t in zip(worst, objectives, turns) if t in mixed]
    if chosen:
        x, y, weights = zip(*chosen)
        sizes = [40 + 260 * weight for weight in weights]
        ax.scatter(x, y, s=sizes, facecolors="none", edgecolors="#b3541e", linewidths=1.6, label="mixed, by weight")
    whole = json.loads(classifier._classifier.describe())["record"].get("mixture")
    if whole is not None:
        point = [whole["worst"]], [whole["objective"]]
        ax.plot(*point, "*", color="#b3541e", markersize=14, label="the mixture")
    ax.legend(frameon=False)
    ax.axvline(0.0, color="#333333", linewidth=0.8)
    ax.xaxis.set_major_locator(_few_ticks())
    ax.set_xlabel("worst violation where constraints are enforced: met left of 0")
    ax.set_ylabel("objective, on training rows")
    return ax


def constraints(evaluation: Evaluation, ax: Any = None) -> Any:
    """The loss of each constraint with its interval. A constraint is met if its interval is left of 0."""
    if not isinstance(evaluation, Evaluation):
        raise ValueError("give an evaluation: plot.constraints(model.evaluate(X, y))")
    shown = evaluation.constraints
    if not shown:
        raise ValueError("there are no constraints to draw")
    names = [textwrap.fill(one["name"], 44) for one in shown]
    ax = ax if ax is not None else _axes(9, 1.1 + 0.22 * sum(1 + name.count("\n") for name in names) + 0.2 * len(names))
    for place, one in enumerate(shown):
        colour, beside = COLOURS[one["verdict"]], ax.get_yaxis_transform()
        ax.text(1.02, place, one["verdict"], color=colour, va="center", transform=beside)
        if one["value"] is None:
            ax.text(0.5, place, str(one["reason"]), ha="center", va="center", transform=beside, fontsize="small")
            continue
        ax.plot([one["low"], one["high"]], [place, place], color=colour, linewidth=2)
        ax.plot([one["value"]], [place], MARKERS[one["verdict"]], color=colour)
    ax.axvline(0.0, color="#333333", linewidth=0.8)
    ax.margins(x=0.08)
    ax.set_ylim(len(shown) - 0.5, -0.5)
    ax.set_yticks(range(len(shown)), names)
    ax.xaxis.set_major_locator(_few_ticks())
    ax.set_xlabel(f"loss, met at 0 or less; intervals at {100 * evaluation.confidence:g} %, together")
    return ax


def _few_ticks() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(5)


def _axes(width: float, height: float) -> Any:
    try:
        from matplotlib import pyplot
    except ModuleNotFoundError:
        raise ModuleNotFoundError("figures need matplotlib: pip install matplotlib") from None
    _, ax = pyplot.subplots(figsize=(width, height), layout="constrained")
    return ax
