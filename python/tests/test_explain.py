"""Why a row is decided as it is, and what other bounds would cost."""

import matplotlib
import numpy as np
import pandas as pd
import pytest

import fairgame


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    random = np.random.default_rng(6)
    sex = random.choice(["f", "m"], 3000)
    skill = random.normal(size=3000) + np.where(sex == "m", 0.7, 0.0)
    town = random.choice(["a", "b", "c"], 3000)
    return pd.DataFrame({"sex": sex, "skill": skill, "town": town, "hired": skill + random.normal(size=3000) > 0.8})


RULE = "positive_rate(each sex) >= 0.8 * positive_rate()"


@pytest.mark.parametrize("model", ["trees", "linear", "mlp"])
def test_explain(people: pd.DataFrame, model: str):
    trained = fairgame.train({"label": "hired", "constraints": [RULE], "model": model}, people)
    chances, scores = trained.predict_proba(people)[:, 1], trained.decision_function(people)
    for row in (0, 17, 2999):
        why = trained.explain(people, row=row)
        assert why["probability"] == pytest.approx(chances[row])
        assert why["score"] == pytest.approx(scores[row], abs=1e-6)
        assert sum(one["weight"] for one in why["members"] if one["positive"]) == pytest.approx(chances[row])
        for one in why["members"]:
            (p,) = one["probabilities"]
            assert one["positive"] == ((p > one["cut"]) != one["below"])
        if model == "mlp":
            assert why["contributions"] == []
            continue
        (found,) = why["contributions"]
        adds = {one["column"]: one["contribution"] for one in found["columns"]}
        assert set(adds) == set(trained.features_in_use_)
        assert found["base"] + sum(adds.values()) == pytest.approx(found["value"], abs=1e-4)
    # In comparison with itself, nothing adds anything.
    why = trained.explain(people[5:6], background=people[5:6])
    assert all(abs(one["contribution"]) < 1e-9 for all in why["contributions"] for one in all["columns"])
    with pytest.raises(ValueError, match="no row 3000"):
        trained.explain(people, row=3000)


def test_trade_off(people: pd.DataFrame):
    matplotlib.use("Agg")
    trained = fairgame.train({"label": "hired", "constraints": [RULE]}, people)
    found = trained.trade_off(slacks=[0.05, 0, -0.9])
    assert [point["slack"] for point in found["points"]] == [-0.9, 0, 0.05]
    assert [point["feasible"] for point in found["points"]] == [False, True, True]
    own, loose = found["points"][1:]
    assert loose["objective"] <= own["objective"]
    assert own["interval"]["low"] < trained.evaluations_["val"].error < own["interval"]["high"]
    one = trained.trade_off(trained.constraints_[0], [0, 0.02])
    assert one["constraint"] == trained.constraints_[0]
    assert one == trained.trade_off(0, [0, 0.02])
    ax = fairgame.plot.trade_off(trained)
    assert ax.get_ylabel() == "error()"
    with pytest.raises(ValueError, match="no constraint"):
        trained.trade_off("recall() >= 1")
    with pytest.raises(ValueError, match="there is no constraint 9"):
        trained.trade_off(8)
    with pytest.raises(ValueError, match="can be met"):
        fairgame.plot.trade_off(trained, slacks=[-0.9])
