"""docs/from-fairlearn.md: its examples run, and its table of constraints says the same as fairlearn."""

import doctest
import pathlib
import re

import numpy as np
import pandas as pd
import pytest

import fairgame

PAGE = pathlib.Path(__file__).parents[2] / "docs/from-fairlearn.md"


def pairs():
    """Each fairlearn constraint of the table, with ours beside it."""
    table = PAGE.read_text(encoding="utf-8").split("## Constraints")[1].split("\n- ")[0]
    for line in table.splitlines():
        cells = [re.findall("`([^`]+)`", cell) for cell in line.strip("|").split(" | ")]
        if len(cells) == 2 and cells[0]:
            yield pytest.param(cells[0][0], cells[1], id=cells[0][0])


def test_the_examples():
    failed, tried = doctest.testfile(str(PAGE), module_relative=False)
    assert failed == 0 and tried > 25


@pytest.mark.filterwarnings("ignore")  # fairlearn's own, of pandas
@pytest.mark.parametrize("theirs, ours", list(pairs()))
def test_both_measure_the_same_violation(theirs, ours):
    reductions = pytest.importorskip("fairlearn.reductions")
    rng = np.random.default_rng(3)
    for _ in range(5):
        group = rng.choice(["a", "b", "c"], 400, p=[0.2, 0.3, 0.5])
        y = rng.random(400) < rng.uniform(0.2, 0.8)
        chance = np.clip(rng.random(400) + 0.4 * (group == "b") - 0.3 * y, 0, 1)
        moment = eval(theirs, dict(vars(reductions)))
        moment.load_data(pd.DataFrame({"x": np.zeros(400)}), pd.Series(y.astype(int)), sensitive_features=pd.Series(group))
        worst = (moment.gamma(lambda _: pd.Series(chance)) - moment.bound()).max()
        found = fairgame.audit({"group": group, "y": y}, chance, label="y", constraints=ours)
        assert found.worst == pytest.approx(worst, abs=1e-9)


def test_the_table_is_complete():
    named = {param.id.partition("(")[0] for param in pairs()}
    assert named == {
        "DemographicParity",
        "TruePositiveRateParity",
        "FalsePositiveRateParity",
        "EqualizedOdds",
        "ErrorRateParity",
        "BoundedGroupLoss",
    }


def test_differences_are_losses():
    metrics = pytest.importorskip("fairlearn.metrics")
    rng = np.random.default_rng(5)
    group, y, decided = rng.choice(["a", "b"], 300), rng.random(300) < 0.4, rng.random(300) < 0.5
    frame = metrics.MetricFrame(
        metrics=metrics.true_positive_rate, y_true=y, y_pred=decided, sensitive_features=group
    )
    table = {"group": group, "y": y}
    found = fairgame.audit(table, decided, label="y", constraints=["tpr(each group) == tpr() within 0"])
    assert found.worst == pytest.approx(frame.difference(method="to_overall"))
    rates = {one["name"]: one["value"] for one in found.rates}
    assert rates["tpr()"] == pytest.approx(frame.overall)
    assert rates['tpr(group == "b")'] == pytest.approx(frame.by_group["b"])


def test_costs_are_class_weights():
    reductions = pytest.importorskip("fairlearn.reductions")
    rng = np.random.default_rng(4)
    y, chance = rng.random(300) < 0.3, rng.random(300)
    costs = reductions.ErrorRate(costs={"fp": 0.7, "fn": 0.3})
    costs.load_data(pd.DataFrame({"x": np.zeros(300)}), pd.Series(y.astype(int)), sensitive_features=pd.Series(["a"] * 300))
    theirs = costs.gamma(lambda _: pd.Series(chance)).iloc[0]
    objective = fairgame._objective.weighted("error()", {0: 0.7, 1: 0.3}, np.array([0, 1]), y, None)
    ours = fairgame.audit({"y": y}, chance, label="y", constraints=[], objective=objective).objective["value"]
    # Ours is over the largest error that there could be.
    assert ours * (0.7 * (~y).mean() + 0.3 * y.mean()) == pytest.approx(theirs)
