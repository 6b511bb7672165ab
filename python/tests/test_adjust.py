"""Constraints over the scores of any model, in Python as on the command line."""

import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression

import fairgame
from fairgame import FairGameClassifier, FairGameWarning

from test_wrapped import RULE, numbers, people

LABEL = 'hired == "yes"'


def scored(rows, seed):
    """People, and what a model that was trained on others says of them."""
    X, y = people(2000, 100)
    fresh, truth = people(rows, seed)
    model = LogisticRegression().fit(numbers(X), y)
    return model.predict_proba(numbers(fresh))[:, 1], pd.DataFrame({"sex": fresh["sex"], "hired": truth})


def test_constraints_hold_on_new_rows(tmp_path):
    (scores, data), (more, later) = scored(4000, 1), scored(20000, 2)
    model = fairgame.adjust(scores, data, label=LABEL, constraints=[RULE], margin="95%", classes=["no", "yes"])
    new = later.assign(score=more)
    found = fairgame.evaluate(model, new)
    assert model.standing_ == "promised" and found.worst <= 0
    # There was something to enforce.
    plain = fairgame.audit(later, more > 0.5, label=LABEL, constraints=[RULE])
    assert plain.worst > 0.02
    # The scores and the groups are all it needs, by name.
    decided = model.predict(new[["score", "sex"]])
    assert set(decided) == {"no", "yes"}
    assert model.evaluate(new[["sex", "score"]], later["hired"]).constraints == found.constraints
    model.save(tmp_path / "rule.safetensors")
    assert [one.name for one in tmp_path.iterdir()] == ["rule.safetensors"]
    again = fairgame.load(tmp_path / "rule.safetensors")
    assert np.array_equal(again.predict(new), decided) and again.classes_.tolist() == ["no", "yes"]


def test_it_is_what_a_policy_trains():
    scores, data = scored(1500, 3)
    policy = {"label": LABEL, "constraints": [RULE], "model": {"scores": {"columns": ["p"]}}, "seed": 3}
    wanted = fairgame.train(policy | {"selection": {"shrink": {"margin": 2}}}, data.assign(p=scores))
    for frame in (data, pl.from_pandas(data), dict(data)):
        one = fairgame.adjust(
            scores, frame, label=LABEL, constraints=[RULE], name="p", margin=2, random_state=3, verbose=0
        )
        table = data.assign(p=scores)
        assert np.array_equal(one.predict_proba(table), wanted.predict_proba(table))
    log_odds = np.log(scores / (1 - scores))
    one = fairgame.adjust(log_odds, data, label=LABEL, constraints=[RULE], scale="log_odds", deterministic=True)
    assert one.evaluations_["val"].drawn == 0
    assert one.evaluations_["val"].worst <= 1e-6


def test_groups_that_are_not_known_later():
    scores, data = scored(2000, 4)
    data = data.assign(height=np.where(data["sex"] == "m", 1.8, 1.6) + np.random.default_rng(0).normal(0, 0.1, 2000))
    model = fairgame.adjust(scores, data, label=LABEL, constraints=[RULE], ignore="sex")
    assert len(model.predict({"score": [0.5, 0.9], "height": [1.6, 1.8]})) == 2


def test_weights_and_units():
    scores, data = scored(1500, 5)
    weights = np.where(data["sex"] == "f", 3.0, 1.0)
    # The names are taken.
    data = data.assign(weight=0.0, unit="a")
    model = fairgame.adjust(scores, data, label=LABEL, constraints=[RULE], sample_weight=weights, unit=np.arange(1500) // 2)
    settings = json.loads(model._classifier.describe())["settings"]
    assert (settings["weight"], settings["unit"]) == ("weight_", "unit_")
    assert model.evaluations_["val"].units == 750
    by_name = fairgame.adjust(scores, data.assign(who=np.arange(1500) // 3), label=LABEL, constraints=[RULE], unit="who")
    assert by_name.evaluations_["val"].units == 500


def test_it_says_which_rows_scores_must_be_of():
    scores, data = scored(600, 6)
    with pytest.warns(FairGameWarning, match="the scores must be of rows that their model was not trained on"):
        fairgame.adjust(scores, data, label=LABEL, constraints=["recall() >= 0.5"])
    X, y = people(600, 7)
    more, labels = people(600, 8)
    fitted = LogisticRegression().fit(numbers(X), y)
    with pytest.warns(FairGameWarning, match="prefit=True: the scores of the estimator must be of rows"):
        FairGameClassifier(["recall() >= 0.5"], estimator=fitted, prefit=True).fit(numbers(more), labels)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        FairGameClassifier(["recall() >= 0.5"], estimator=LogisticRegression()).fit(numbers(X), y)
    assert not any("not trained on" in str(one.message) for one in caught)


@pytest.mark.parametrize(
    "change, more, said",
    [
        (lambda p: p + 0.7, {}, "which is no probability: give scale"),
        (lambda p: np.where(p > 0.5, np.nan, p), {}, "has no score"),
        (lambda p: np.where(p > 0.5, np.inf, p), {"scale": "log_odds"}, "no log-odds"),
        (lambda p: p[1:], {}, "299 scores are given for 300 rows"),
        (lambda p: np.column_stack([p, p]), {}, r"predict_proba\(X\)\[:, 1\]"),
        (lambda p: p.astype(str).astype(object) + "x", {}, "scores are numbers"),
        (lambda p: p, {"scale": "percent"}, "scale is"),
        (lambda p: p, {"name": "sex"}, "another name"),
        (lambda p: p, {"unit": "whose"}, "no such column"),
        (lambda p: p, {"settings": {"model": "trees"}}, "`model` is an argument of its own"),
        (lambda p: p, {"label": "hire"}, "hire"),
        (lambda p: p, {"classes": ["yes", "no"]}, "second of classes"),
        (lambda p: p, {"classes": ["no"]}, "classes are two labels"),
        (lambda p: p, {"label": pd.Series(["yes"])}, "label is a condition"),
        (lambda p: "p", {}, "no such column"),
        (lambda p: "hired", {}, "has no numbers"),
    ],
)
def test_refused(change, more, said):
    scores, data = scored(300, 9)
    with pytest.raises(ValueError, match=said):
        fairgame.adjust(change(scores), data, **({"label": LABEL, "constraints": [RULE]} | more))
    # Rounding is no reason.
    rounded = np.where(scores > 0.6, 1.0000000000000002, scores)
    assert fairgame.adjust(rounded, data, label=LABEL, constraints=[]).predict({"score": [1.0]})[0]


def test_scores_by_name_whole_tables_and_a_short_repr():
    scores, data = scored(1500, 10)
    rule = dict(label=LABEL, constraints=[RULE], random_state=3, classes=["no", "yes"])
    wanted = fairgame.adjust(scores, data, name="p", **rule)
    one, table = fairgame.adjust("p", data.assign(p=scores), **rule), data.assign(p=scores)
    assert np.array_equal(one.predict_proba(table), wanted.predict_proba(table))
    assert one.evaluate(table).constraints == fairgame.evaluate(one, table).constraints
    assert len(repr(one)) < 600
    with pytest.raises(ValueError, match="go with y"):
        one.evaluate(table, sensitive_features=data["sex"])
    # A label that training did not have is an error, or a warning where some rows have the others.
    with pytest.raises(ValueError, match=r"training did not have \(`no.`, `yes.`\)"):
        fairgame.evaluate(one, table.assign(hired=table["hired"] + "."))
    half = table.assign(hired=[text + "." * (at % 2) for at, text in enumerate(table["hired"])])
    with pytest.warns(FairGameWarning, match="750 rows have a value of the label's column"):
        fairgame.evaluate(one, half)
    with pytest.warns(FairGameWarning, match="rank rows in reverse"):
        fairgame.adjust(1 - scores, data, **rule)
