"""Series and frames beside a frame are matched by the labels of its index."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.model_selection import cross_val_score

import fairgame
from fairgame import FairGameClassifier
from fairgame._align import aligned

from conftest import FEW

RULE = "positive_rate(each group) >= 0.8 * positive_rate()"


@pytest.fixture(scope="module")
def rows(people):
    X, y, group = people
    index = pd.Index([f"row {i}" for i in range(len(y))])
    X = pd.DataFrame(X, columns=list("abcd"), index=index)
    more = pd.DataFrame({"group": group, "weight": np.where(X["b"] > 0, 2.0, 1.0), "who": np.arange(len(y)) // 2}, index=index)
    return X, y, more, more.sample(frac=1, random_state=0)


def fit(X, y, more, **settings):
    arguments = {"sensitive_features": more["group"], "sample_weight": more["weight"], "groups": more["who"]}
    return FairGameClassifier([RULE], algorithm=FEW).fit(X, y, **(arguments | settings))


def test_another_order_is_the_same_data(rows):
    X, y, more, shuffled = rows
    wanted, found = fit(X, y, more), fit(X, y, shuffled)
    assert np.array_equal(found.predict_proba(X), wanted.predict_proba(X))
    frame, columns = fit(X, y, shuffled, sensitive_features=shuffled[["group"]]), {"group": shuffled["group"]}
    for other in (frame, fit(X, y, shuffled, sensitive_features=columns)):
        assert np.array_equal(other.predict_proba(X), wanted.predict_proba(X))
    evaluate = lambda one: found.evaluate(
        X, y, sensitive_features=one["group"], sample_weight=one["weight"], unit=one["who"]
    )
    assert evaluate(shuffled).constraints == evaluate(more).constraints
    assert evaluate(shuffled).units == 1500
    assert np.array_equal(found.predict(X, keys=shuffled["who"]), found.predict(X, keys=more["who"]))
    # Arrays have no labels: they are in the order of X.
    by_position = found.evaluate(X, y, sensitive_features=shuffled["group"].to_numpy())
    assert by_position.constraints != found.evaluate(X, y, sensitive_features=more["group"]).constraints


def test_validation_rows_have_an_index_of_their_own(rows):
    X, y, more, _ = rows
    half = np.arange(len(y)) % 2 == 0
    model = lambda other: FairGameClassifier([RULE], algorithm=FEW).fit(
        X[half],
        y[half],
        sensitive_features=more["group"][half],
        sample_weight=more["weight"][half],
        groups=more["who"][half],
        validation=(X[~half], y[~half], other["group"], other["weight"], other["who"]),
    )
    wanted = model(more[~half])
    assert np.array_equal(model(more[~half][::-1]).predict_proba(X), wanted.predict_proba(X))
    with pytest.raises(ValueError, match="X have indices with other labels"):
        model(more[half])


def test_functions(rows):
    X, y, more, shuffled = rows
    data = X.assign(group=more["group"], y=y)
    chances = pd.Series(np.linspace(0, 1, len(y)), index=X.index)
    audit = lambda one, given: fairgame.audit(
        data, given, label="y", constraints=[RULE], sample_weight=one["weight"], unit=one["who"]
    )
    wanted = audit(more, chances)
    assert audit(shuffled, chances[shuffled.index]).constraints == wanted.constraints
    adjust = lambda one: fairgame.adjust(
        chances[one.index], data, label="y", constraints=[RULE], sample_weight=one["weight"], unit=one["who"]
    )
    table = data.assign(score=chances)
    wanted, found = adjust(more), adjust(shuffled)
    assert np.array_equal(found.predict_proba(table), wanted.predict_proba(table))
    evaluate = lambda one: fairgame.evaluate(wanted, table, sample_weight=one["weight"], unit=one["who"])
    assert evaluate(shuffled).constraints == evaluate(more).constraints
    score = fairgame.scorer([RULE])
    model = fit(X, y, more)
    both = [score(model, X, y, sensitive_features=one["group"], sample_weight=one["weight"]) for one in (more, shuffled)]
    assert both[0] == both[1]


@pytest.mark.parametrize("name", ["sensitive_features", "sample_weight", "groups"])
def test_other_labels_are_refused(rows, name):
    X, y, more, _ = rows
    column = {"sensitive_features": "group", "sample_weight": "weight", "groups": "who"}[name]
    fresh = more[column].reset_index(drop=True)
    with pytest.raises(ValueError, match=f"{name} and X have indices with other labels.*'row 0'"):
        fit(X, y, more, **{name: fresh})
    with pytest.raises(ValueError, match="2999 rows and 3000"):
        fit(X, y, more, **{name: more[column][1:]})
    # Labels that repeat say nothing of the order, unless it is the same one.
    twice = X.set_axis(np.arange(len(y)) // 2)
    same = {key: more[value].set_axis(twice.index) for key, value in (("sensitive_features", "group"), ("groups", "who"))}
    assert fit(twice, y, more, sample_weight=None, **same).constraints_
    turned = more[column].set_axis(twice.index)[::-1]
    whole = {"sensitive_features": more["group"].to_numpy(), "sample_weight": None, "groups": None}
    with pytest.raises(ValueError, match="some repeat"):
        fit(twice, y, more, **(whole | {name: turned}))
    with pytest.raises(ValueError, match="unit and X"):
        fit(X, y, more).evaluate(X, y, sensitive_features=more["group"], unit=more["who"].reset_index(drop=True))


def test_y_is_taken_by_position(rows):
    X, y, more, _ = rows
    series = pd.Series(y, index=X.index)
    wanted = fit(X, series, more)
    # Other labels are as they are in scikit-learn.
    assert np.array_equal(fit(X, series.reset_index(drop=True), more).predict_proba(X), wanted.predict_proba(X))
    for call in (lambda: fit(X, series[::-1], more), lambda: wanted.evaluate(X, series[::-1], sensitive_features=more["group"])):
        with pytest.raises(ValueError, match=r"y\.loc\[X\.index\]"):
            call()


def test_cross_validation_cuts_both_alike(rows):
    X, y, more, shuffled = rows
    with sklearn.config_context(enable_metadata_routing=True):
        model = FairGameClassifier([RULE], algorithm=FEW).set_fit_request(sensitive_features=True)
        scores = cross_val_score(model, X, y, cv=3, params={"sensitive_features": more["group"]})
        assert scores.mean() > 0.5


def test_the_first_label_that_differs_is_named():
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0]})
    with pytest.raises(ValueError, match=r"such as 7 and 1 in row 1"):
        aligned(pd.Series([1, 2, 3], index=np.array([0, 7, 2])), X, "sample_weight")
