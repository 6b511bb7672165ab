"""margin and deterministic are settings of the selection, in whichever way they are given."""

import json

import numpy as np
import pytest
from sklearn.base import clone

import fairgame
from fairgame import FairGameClassifier, _selection

RECALL = ["recall() >= 0.8"]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(1500, 3))
    return X, X[:, 0] + rng.normal(size=1500) > 0.3


def trained_with(model):
    return json.loads(model._classifier.describe())["settings"]["selection"]["shrink"]


def test_a_rule_with_a_margin(rows, tmp_path):
    X, y = rows
    ways = [{"selection": "rule"}, {"deterministic": True}, {"selection": {"shrink": {"deterministic": True}}}]
    models = [FairGameClassifier(RECALL, margin="95%", **way).fit(X, y) for way in ways]
    for model in models:
        assert trained_with(model)["margin"] == {"confidence": 0.95} and trained_with(model)["deterministic"]
        assert model.evaluations_["val"].drawn == 0 and model.rule_price_ is not None
        assert np.array_equal(model.predict(X), models[0].predict(X))
        # The mean of five folds was not judged.
        assert model.standing_ == "enforced"
    # One fold is what was judged.
    half = np.arange(len(y)) % 2 == 0
    model = FairGameClassifier(RECALL, margin="95%", deterministic=True)
    assert model.fit(X[half], y[half], validation=(X[~half], y[~half])).standing_ == "promised"
    models[0].save(tmp_path / "m.safetensors")
    again = fairgame.load(tmp_path / "m.safetensors")
    assert again.deterministic and again.margin == {"confidence": 0.95}
    assert np.array_equal(clone(again).fit(X, y).predict(X), models[0].predict(X))


def test_a_policy_with_another_margin(rows):
    X, y = rows
    policy = {"label": "y", "constraints": RECALL, "selection": "rule"}
    model = fairgame.train(policy, {"x": X[:, 0], "y": y}, margin="2")
    assert trained_with(model)["margin"] == {"errors": 2.0} and trained_with(model)["deterministic"]


def test_numbers_as_text(rows):
    X, y = rows
    few = {"practical": {"turns": 500}}
    for given, wanted in (("1", 1.0), (" 0.5 ", 0.5), ("2e0", 2.0)):
        model = FairGameClassifier(RECALL, algorithm=few, margin=given).fit(X, y)
        assert trained_with(model)["margin"] == {"errors": wanted} and model.margin == given
    for wrong in ("one", "nan", "1_0", "-1", "1 %%"):
        with pytest.raises(ValueError):
            FairGameClassifier(RECALL, algorithm=few, margin=wrong).fit(X, y)


@pytest.mark.parametrize(
    "more, said",
    [
        ({"selection": "last", "margin": 1}, "margin is of use"),
        ({"selection": "uniform", "deterministic": True}, "deterministic is of use"),
        ({"selection": {"shrink": {"margin": 1}}, "margin": 1}, "given twice"),
        ({"selection": {"shrink": {"deterministic": False}}, "deterministic": True}, "give it once"),
        ({"deterministic": True, "algorithm": "practical"}, "deterministic"),
    ],
)
def test_refused(rows, more, said):
    with pytest.raises(ValueError, match=said):
        FairGameClassifier(RECALL, **more).fit(*rows)


def test_parts_and_whole():
    for whole in ("rule", {"shrink": {"thresholds": 5, "margin": 2, "deterministic": True}}, {"shrink": {"margin": 1}}):
        rest, margin, deterministic = _selection.parted(whole)
        assert _selection.joined(rest, margin, deterministic) == ({"shrink": {"deterministic": True}} if whole == "rule" else whole)
    assert _selection.parted("last") == ("last", None, False) and _selection.joined(None) is None
