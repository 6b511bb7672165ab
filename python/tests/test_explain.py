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


def chance(why: dict) -> float:
    """The chance of a positive decision, from what is said of the members."""
    total = 0.0
    for column in {one["column"] for one in why["members"]}:
        members = [one for one in why["members"] if one["column"] == column]
        if why["blend"] == "fold":
            total += sum(one["weight"] for one in members if one["positive"])
        elif sum(one["weight"] * (one["score"] - one["threshold"]) for one in members) > 0:
            total += sum(one["weight"] for one in members)
    return total


@pytest.mark.parametrize("model", ["trees", "linear", "mlp", "trees, mean"])
def test_explain(people: pd.DataFrame, model: str):
    policy = {"label": "hired", "constraints": [RULE], "model": model.partition(",")[0]}
    if "mean" in model:
        policy["selection"] = {"shrink": {"deterministic": True}}
    trained = fairgame.train(policy, people)
    chances, scores = trained.predict_proba(people)[:, 1], trained.decision_function(people)
    for row in (0, 17, 2999):
        why = trained.explain(people, row=row)
        assert why["probability"] == pytest.approx(chances[row])
        assert why["score"] == pytest.approx(scores[row], abs=1e-6)
        assert why["blend"] == ("mean" if "mean" in model else "fold")
        assert chance(why) == pytest.approx(chances[row])
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


def test_the_mean_of_the_folds_decides(people: pd.DataFrame):
    """Folds may disagree, and each column is decided by their mean."""
    policy = {"label": "hired", "constraints": [RULE], "selection": {"shrink": {"deterministic": True}}}
    trained = fairgame.train(policy, people)
    decided = trained.decision_distribution(people).decisions
    split = np.flatnonzero((decided != decided[:, :1]).any(axis=1))
    assert len(split) > 0
    for row in split[:20]:
        why = trained.explain(people, row=row)
        assert len({one["positive"] for one in why["members"]}) == 2
        assert chance(why) == pytest.approx(why["probability"]) and why["probability"] in (0, 1)
        assert why["positive"] == trained.predict(people)[row]


def test_keys_draw_as_in_predict(people: pd.DataFrame):
    policy = {"label": "hired", "constraints": ["positive_rate(each sex) == positive_rate() within 0.01"], "model": "linear"}
    trained = fairgame.train(policy, people)
    chances = trained.predict_proba(people)[:, 1]
    drawn = np.flatnonzero((chances > 0.2) & (chances < 0.8))[0]
    same, keys = people.iloc[[drawn] * 40], np.arange(40)
    decided = trained.predict(same, keys=keys)
    assert len(set(decided)) == 2
    for row in range(40):
        assert trained.explain(same, row=row, keys=keys)["positive"] == decided[row]
    with pytest.raises(ValueError, match="keys"):
        trained.explain(same, keys=keys[:3])


def test_a_row_is_no_background_of_itself(people: pd.DataFrame):
    trained = fairgame.train({"label": "hired", "constraints": [RULE], "model": "linear"}, people)
    two = people[:2]
    beside = trained.explain(two, row=0)
    assert beside["background"] == 1
    assert beside["contributions"] == trained.explain(two, row=0, background=people[1:2])["contributions"]
    assert trained.explain(people, row=7)["background"] == 100
    with pytest.raises(ValueError, match="background="):
        trained.explain(people[:1])


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
