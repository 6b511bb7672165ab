"""What a result is compared with."""

import numpy as np
import pandas as pd
import pytest

import fairgame


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    random = np.random.default_rng(5)
    sex = random.choice(["f", "m"], 3000)
    skill = random.normal(size=3000) + np.where(sex == "m", 0.7, 0.0)
    return pd.DataFrame({"sex": sex, "skill": skill, "hired": skill + random.normal(size=3000) > 0.8})


@pytest.mark.parametrize("model", ["trees", "linear"])
@pytest.mark.parametrize("algorithm", ["plug_in", "practical"])
def test_the_price_of_a_constraint(people: pd.DataFrame, model: str, algorithm: str):
    if (model, algorithm) == ("trees", "practical"):
        pytest.skip("trees are trained by the plug-in game alone")
    rule = "positive_rate(each sex) >= 0.9 * positive_rate()"
    policy = {"label": "hired", "constraints": [rule], "model": model, "test_fraction": 0.3}
    policy["algorithm"] = {"practical": {"turns": 2000}} if algorithm == "practical" else algorithm
    trained = fairgame.train(policy, people)
    found = trained.baselines_
    assert set(found) == {
        f"{part}{kind}" for part in ("", "test_") for kind in ("unconstrained", "always_negative", "always_positive")
    }
    for part, own in (("", trained.evaluations_["val"]), ("test_", trained.evaluations_["test"])):
        negative, positive = found[f"{part}always_negative"], found[f"{part}always_positive"]
        assert negative.error == pytest.approx(own.base_rate) and negative.positive_rate == 0
        assert positive.error == pytest.approx(1 - own.base_rate) and positive.positive_rate == 1
        free = found[f"{part}unconstrained"]
        assert free.rows == own.rows
        # It is better at the objective, and violates what is asked.
        assert free.error < own.error + (0.02 if part else 0)
        assert free.worst > 0.02 > own.worst
    rows = people["hired"].mean()
    assert trained.evaluations_["val"].base_rate == pytest.approx(rows, abs=0.03)
