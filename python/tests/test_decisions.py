"""Audits take decisions as numbers, truths and labels; arrays of texts are categories."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import fairgame
from fairgame import FairGameClassifier

LABEL = 'income == ">50K"'
TPR = ["tpr(each sex) >= 0.5"]


@pytest.fixture(scope="module")
def decided():
    rng = np.random.default_rng(1)
    income = np.where(rng.random(400) < 0.4, ">50K", "<=50K")
    right = rng.random(400) < 0.8
    predicted = np.where(right, income, np.where(income == ">50K", "<=50K", ">50K"))
    return {"sex": rng.choice(["f", "m"], 400), "income": income}, predicted


def test_labels_are_decisions(decided):
    table, predicted = decided
    wanted = fairgame.audit(table, predicted == ">50K", label=LABEL, constraints=TPR)
    forms = [predicted, predicted.astype(object), pd.Series(predicted), pd.Series(predicted, dtype="category")]
    for form in [*forms, pl.Series(predicted), list(predicted)]:
        assert fairgame.audit(table, form, label=LABEL, constraints=TPR).constraints == wanted.constraints
    for label in ("income == '>50K'", " `income`==\">50K\" ", 'income == ">\\u{35}0K"'):
        assert fairgame.audit(table, predicted, label=label, constraints=TPR).constraints == wanted.constraints
    # Another label, or other names for decisions, need to be told which is positive.
    named = np.where(predicted == ">50K", "rich", "poor")
    two = np.where(predicted == ">50K", 2, 1)
    for label in ('income != "<=50K"', LABEL):
        for form, positive in ((two, 2), (predicted == ">50K", True)):
            found = fairgame.audit(table, form, label=label, constraints=TPR, positive=positive)
            assert found.constraints == wanted.constraints
    found = fairgame.audit(table, named, label='income != "<=50K"', constraints=TPR, positive="rich")
    assert found.constraints == wanted.constraints


def test_labels_that_say_nothing(decided):
    table, predicted = decided
    audit = lambda given, label=LABEL, **more: fairgame.audit(table, given, label=label, constraints=TPR, **more)
    with pytest.raises(ValueError, match="positive=…"):
        audit(predicted, 'income != "<=50K"')
    with pytest.raises(ValueError, match="' <=50K', which is no value of column `income`"):
        audit(np.char.add(" ", predicted))
    with pytest.raises(ValueError, match="missing for some rows"):
        audit([None, *predicted[1:]])
    with pytest.raises(ValueError, match="two labels only"):
        audit(np.arange(400) % 3, positive=2)
    with pytest.raises(ValueError, match="of shape"):
        audit(np.column_stack([predicted, predicted]))


def test_rounding_is_forgiven(decided):
    table, predicted = decided
    rounded = np.where(predicted == ">50K", 1.0000000000000002, -1e-17)
    wanted = fairgame.audit(table, predicted, label=LABEL, constraints=TPR)
    assert fairgame.audit(table, rounded, label=LABEL, constraints=TPR).constraints == wanted.constraints
    with pytest.raises(ValueError, match="1.1"):
        fairgame.audit(table, np.where(predicted == ">50K", 1.1, 0), label=LABEL, constraints=TPR)


def test_arrays_of_texts_are_categories():
    rng = np.random.default_rng(2)
    sex, skill = rng.choice(["f", "m"], 600), rng.normal(size=600)
    code = rng.choice(["1", "2"], 600)
    y = skill + (sex == "m") + (code == "2") + rng.normal(size=600) > 1
    objects = np.array(list(zip(sex, skill, code)), dtype=object)
    frame = pd.DataFrame({"x0": sex, "x1": skill, "x2": code})
    few = {"practical": {"turns": 500}}
    fit = lambda X, constraint="recall(each x0) >= 0.6": FairGameClassifier([constraint], algorithm=few).fit(X, y)
    wanted = fit(frame).decision_function(frame)
    for X in (objects, objects.tolist()):
        assert np.array_equal(fit(X).decision_function(X), wanted)
    # numpy has made texts of the numbers; they are numbers again.
    texts = np.array([[s, repr(float(n)), c] for s, n, c in zip(sex, skill, code)])
    numbers = frame.assign(x2=code.astype(float))
    for X in (texts, np.char.encode(texts, "utf-8")):
        assert np.array_equal(fit(X).decision_function(X), fit(numbers).decision_function(numbers))
    missing = objects.copy()
    missing[::5, 0] = None
    assert np.array_equal(
        fit(missing).decision_function(missing),
        fit(frame.assign(x0=missing[:, 0])).decision_function(frame.assign(x0=missing[:, 0])),
    )
    odd = objects.copy()
    odd[0, 1] = {"a": 1}
    with pytest.raises(ValueError, match="x1"):
        fit(odd)
    infinite = objects.copy()
    infinite[0, 1] = np.inf
    with pytest.raises(ValueError, match="infinite"):
        fit(infinite)


def test_a_positive_label_that_nobody_has():
    table = {"hired": ["yes", "no", "yes"], "sex": ["f", "m", "f"]}
    rule = dict(label='hired == "yes"', constraints=["positive_rate() >= 0.1"])
    with pytest.raises(ValueError, match="'zz', which is neither a prediction nor a value"):
        fairgame.audit(table, ["yes", "no", "no"], positive="zz", **rule)
    # One that was never predicted is fine.
    assert fairgame.audit(table, ["no", "no", "no"], positive="yes", **rule).rows == 3
