"""The default: boosted trees with the plug-in game."""

import json

import numpy as np
import pandas as pd
import pytest

from fairgame import FairGameClassifier

FLOOR = "recall(each group) >= 0.7"


@pytest.fixture(scope="module")
def fitted(people):
    X, y, group = people
    return FairGameClassifier([FLOOR]).fit(X, y, sensitive_features=group)


def used(fitted):
    return json.loads(fitted._classifier.describe())["settings"]


def test_trees_are_the_default(people, fitted):
    X, y, group = people
    assert "trees" in used(fitted)["model"] and "plug_in" in used(fitted)["algorithm"]
    linear = FairGameClassifier([FLOOR], model="linear").fit(X[:500], y[:500], sensitive_features=group[:500])
    assert used(linear)["model"] == "linear" and "plug_in" in used(linear)["algorithm"]
    paper = FairGameClassifier([FLOOR], recipe="paper", settings={"keep": 5})
    paper.set_params(algorithm={"practical": {"turns": 50}}).fit(X, y, sensitive_features=group)
    assert used(paper)["model"] == "linear"


def test_groups_are_not_needed(people, fitted):
    X, _, group = people
    assert fitted.standing_ == "enforced"
    decided = fitted.predict(X)
    assert decided.shape == (len(X),)
    # A group that is no feature is modelled: its columns are not asked for.
    assert not set(fitted.feature_importances_.shape) - {X.shape[1]}


def test_importance(fitted):
    gains = fitted.feature_importances_
    assert gains.sum() == pytest.approx(1) and gains.argmax() == 0
    first = fitted.importance_[0]
    assert first["objective"] > 0.02 and len(first["constraints"]) == len(fitted.constraints_)
    assert set(pd.DataFrame(fitted.importance_).columns) == {"column", "gain", "objective", "constraints"}


def test_importance_is_of_trees(people):
    X, y, _ = people
    linear = FairGameClassifier(["recall() >= 0.8"], algorithm={"practical": {"turns": 500}}).fit(X, y)
    assert linear.importance_[0]["gain"] is None
    assert not hasattr(linear, "feature_importances_")


def test_what_a_draw_decides(people, fitted):
    X, y, group = people
    found = fitted.evaluate(X, y, sensitive_features=group)
    chance = fitted.predict_proba(X)[:, 1]
    assert found.drawn == pytest.approx(np.mean((chance > 0) & (chance < 1)))


def test_one_rule(people):
    X, y, group = people
    one = FairGameClassifier([FLOOR], selection="rule").fit(X, y, sensitive_features=group)
    assert set(np.unique(one.predict_proba(X))) <= {0.0, 1.0}
    assert one.evaluations_["train"].drawn == 0 and one.rule_price_ >= -1e-9
    with pytest.raises(ValueError, match="plug-in game alone"):
        FairGameClassifier([FLOOR], selection="rule", algorithm="practical").fit(X, y, sensitive_features=group)


def test_files(people, fitted, tmp_path):
    X, _, _ = people
    fitted.save(tmp_path / "model.safetensors")
    again = FairGameClassifier.load(tmp_path / "model.safetensors", classes=[False, True])
    names = pd.DataFrame(X, columns=[f"x{at}" for at in range(X.shape[1])])
    assert (again.predict_proba(names) == fitted.predict_proba(X)).all()
    assert again.importance_ == fitted.importance_


def test_missing_values_and_categories():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"x": rng.normal(size=2000), "town": rng.choice(list("abcdef"), 2000)})
    y = (frame.x + (frame.town == "c") + rng.normal(size=2000)) > 0.3
    frame.loc[rng.random(2000) < 0.1, "x"] = np.nan
    model = FairGameClassifier(["positive_rate(each town) >= 0.7 * positive_rate()"]).fit(frame, y)
    assert model.standing_ == "enforced"
    assert model.score(frame, y) > 0.65
