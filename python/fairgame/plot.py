"""Figures; they need matplotlib.

Each function draws on `ax`, or on a figure of its own, and returns the axes.
"""

from __future__ import annotations

from typing import Any

from ._estimator import FairGameClassifier
from ._evaluation import Evaluation

COLOURS = {"met": "#1a7f37", "violated": "#c62828", "undecided": "#8a6d00"}
MARKERS = {"met": "o", "violated": "X", "undecided": "s"}


def trade_off(classifier: FairGameClassifier, ax: Any = None) -> Any:
    """Objective against worst violation: the models that were kept, those that are mixed, and the mixture."""
    ax = ax if ax is not None else _axes(6, 4)
    moments = [one["model"] for one in classifier.iterates_]
    if not moments or moments[0]["worst"] is None:
        raise ValueError("there is no trade-off to draw: the classifier has no constraints, or remembers no training")
    turns = [one["turn"] for one in classifier.iterates_]
    objectives, worst = [one["objective"] for one in moments], [one["worst"] for one in moments]
    kept = ax.scatter(worst, objectives, c=turns, cmap="Blues", s=24, edgecolors="#55607a", linewidths=0.5)
    ax.figure.colorbar(kept, ax=ax, label="turn")
    mixed = {one["turn"]: one["weight"] for one in classifier.mixture_}
    chosen = [(w, o, mixed[t]) for w, o, t in zip(worst, objectives, turns) if t in mixed]
    if chosen:
        x, y, weights = zip(*chosen)
        sizes = [40 + 260 * weight for weight in weights]
        ax.scatter(x, y, s=sizes, facecolors="none", edgecolors="#b3541e", linewidths=1.6, label="mixed, by weight")
    if classifier._mixed is not None:
        point = [classifier._mixed["worst"]], [classifier._mixed["objective"]]
        ax.plot(*point, "*", color="#b3541e", markersize=14, label="the mixture")
    ax.legend(frameon=False)
    ax.axvline(0.0, color="#333333", linewidth=0.8)
    ax.set_xlabel("worst violation, where constraints are enforced")
    ax.set_ylabel("objective, on training rows")
    return ax


def constraints(evaluation: Evaluation, ax: Any = None) -> Any:
    """The loss of each constraint with its interval: met where all of it is left of 0."""
    if not evaluation.constraints:
        raise ValueError("there are no constraints to draw")
    ax = ax if ax is not None else _axes(7, 1.2 + 0.35 * len(evaluation.constraints))
    for place, one in enumerate(evaluation.constraints):
        if one["value"] is None:
            ax.text(0.0, place, str(one["reason"]), va="center", fontsize="small")
            continue
        colour = COLOURS[one["verdict"]]
        ax.plot([one["low"], one["high"]], [place, place], color=colour, linewidth=2)
        ax.plot([one["value"]], [place], MARKERS[one["verdict"]], color=colour)
    ax.axvline(0.0, color="#333333", linewidth=0.8)
    ax.set_yticks(range(len(evaluation.constraints)), [one["name"] for one in evaluation.constraints])
    ax.invert_yaxis()
    ax.set_xlabel(f"loss, with intervals at {100 * evaluation.confidence:g} % together: met at 0 or less")
    handles = [ax.plot([], [], MARKERS[name], color=colour, label=name)[0] for name, colour in COLOURS.items()]
    ax.legend(handles=handles, frameon=False, loc="best")
    return ax


def _axes(width: float, height: float) -> Any:
    try:
        from matplotlib import pyplot
    except ModuleNotFoundError:
        raise ModuleNotFoundError("figures need matplotlib: pip install 'fairgame[plot]'") from None
    _, ax = pyplot.subplots(figsize=(width, height), layout="constrained")
    return ax
