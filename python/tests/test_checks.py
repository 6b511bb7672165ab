"""Checks of the data before training."""

import numpy as np
import pandas as pd
import pytest

import fairgame


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    random = np.random.default_rng(3)
    age = random.integers(18, 60, 600)
    hired = random.random(600) < np.where(age > 40, 0.75, 0.3)
    return pd.DataFrame({
        "key": [f"p{n}" for n in random.integers(0, 10**9, 600)],
        "age": age,
        "group": random.choice(["a", "b"], 600),
        "hired": hired,
        "refused": ~hired,
    })


def kinds(found: list[dict]) -> list[tuple[str, object]]:
    return [(one["finding"], one.get("column", one.get("columns"))) for one in found]


def test_check_data(people: pd.DataFrame):
    found = fairgame.check_data(people, label="hired", constraints=["tpr(each group) >= 0.5"])
    assert kinds(found) == [("identifier", "key"), ("leak", "refused"), ("protected", ["age", "group"])]
    assert all(one["left_out"] and one["serious"] for one in found[:2])
    assert "gives the label away" in found[1]["message"]
    found = fairgame.check_data(people, label="hired", ignore=["key", "age"], features=["refused"])
    assert kinds(found) == [("leak", "refused")] and not found[0]["left_out"]
    assert [one["finding"] for one in fairgame.check_data(people)] == ["identifier", "protected"]
    with pytest.raises(ValueError, match="did you mean `age`"):
        fairgame.check_data(people, features=["agge"])


def test_train_leaves_out_and_fit_tells(people: pd.DataFrame):
    policy = {"label": "hired", "constraints": ["tpr(each group) >= 0.3"]}
    model = fairgame.train(policy, people)
    assert model.features_in_use_ == ["age", "group"]
    assert any("refused" in notice and "left out" in notice for notice in model.notices_)
    model = fairgame.train({**policy, "features": ["refused"]}, people)
    assert model.features_in_use_ == ["age", "group", "refused"]
    # Who gives X has chosen its columns.
    X = people[["age", "refused"]]
    model = fairgame.FairGameClassifier(["tpr() >= 0.3"]).fit(X, people["hired"])
    assert model.features_in_use_ == ["age", "refused"]
    assert any("refused" in notice and "left out" not in notice for notice in model.notices_)
    model = fairgame.FairGameClassifier(["tpr() >= 0.3"], settings={"checks": "leave_out"}).fit(X, people["hired"])
    assert model.features_in_use_ == ["age"]


def test_a_missing_feature_is_named(people: pd.DataFrame):
    model = fairgame.train({"label": "hired", "constraints": ["tpr() >= 0.3"]}, people)
    with pytest.raises(ValueError, match="feature"):
        model.predict(people[["age"]])
