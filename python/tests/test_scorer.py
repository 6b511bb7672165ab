"""A search under constraints takes the classifier that meets them."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import fairgame
from fairgame import FairGameClassifier

from conftest import FEW
from test_wrapped import RULE, numbers, people


class Cut(ClassifierMixin, BaseEstimator):
    """Decides by a cut of the skill; `lower` is how much lower it is for women."""

    def __init__(self, lower=0.0):
        self.lower = lower

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        women = np.asarray(X["sex"]) == "f"
        return self.classes_[(np.asarray(X["skill"]) > 0.8 - self.lower * women).astype(int)]


def test_the_score_by_hand():
    X, y = people(2000, 1)
    cut = Cut().fit(X, y)
    decided, truth, women = cut.predict(X) == "yes", y == "yes", np.asarray(X["sex"] == "f")
    loss = max(0.8 * decided.mean() - decided[one].mean() for one in (women, ~women))
    error = np.mean(decided != truth)
    assert loss > 0.02
    for penalty in (0, 1, 2.5):
        assert fairgame.scorer([RULE], penalty=penalty)(cut, X, y) == pytest.approx(-error - penalty * loss)
    assert fairgame.scorer([])(cut, pl.from_pandas(X), y) == pytest.approx(-error)
    weights = np.where(women, 2.0, 1.0)
    wanted = -np.average(decided[truth] == 0, weights=weights[truth])
    assert fairgame.scorer([], "fnr()")(cut, X, y, sample_weight=weights) == pytest.approx(wanted)
    # What is met adds nothing.
    assert fairgame.scorer(["recall() >= 0"])(cut, X, y) == pytest.approx(-error)


def test_a_search_takes_what_meets_the_constraints():
    X, y = people(3000, 2)
    search = GridSearchCV(Cut(), {"lower": [0.0, 0.3, 0.6]}, scoring=fairgame.scorer([RULE], penalty=5), cv=3).fit(X, y)
    plain = GridSearchCV(Cut(), {"lower": [0.0, 0.3, 0.6]}, cv=3).fit(X, y)
    assert (plain.best_params_["lower"], search.best_params_["lower"]) == (0.0, 0.3)
    found = cross_validate(Cut(0.3), X, y, scoring={"fair": fairgame.scorer([RULE]), "plain": "accuracy"}, n_jobs=2)
    assert found["test_fair"] == pytest.approx(found["test_plain"] - 1, abs=0.05)


def test_a_randomised_classifier_counts_with_its_probabilities(people):
    X, y, group = people
    model = FairGameClassifier(["positive_rate() <= 0.3"], algorithm=FEW).fit(X, y)
    score = fairgame.scorer(["positive_rate() <= 0.3"])
    found = model.evaluate(X, y)
    wanted = -found.error - max(found.worst, 0)
    assert score(model, X, y) == pytest.approx(wanted, abs=1e-12)
    pipeline = make_pipeline(StandardScaler(), FairGameClassifier(["positive_rate() <= 0.3"], algorithm=FEW)).fit(X, y)
    chance = pipeline.predict_proba(X)[:, 1]
    assert ((chance > 0) & (chance < 1)).any()
    assert score(pipeline, X, y) == pytest.approx(-np.abs(chance - y).mean() - max(chance.mean() - 0.3, 0))


def test_groups_are_routed(people):
    X, y, group = people
    rule = ["positive_rate(each group) >= 0.8 * positive_rate()"]
    with sklearn.config_context(enable_metadata_routing=True):
        score = fairgame.scorer(rule).set_score_request(sensitive_features=True, sample_weight=True)
        params = {"sensitive_features": group, "sample_weight": np.ones(len(y))}
        plain = LogisticRegression().set_fit_request(sample_weight=False)
        found = cross_val_score(plain, X, y, scoring=score, cv=3, params=params)
        without = cross_val_score(plain, X, y, scoring=fairgame.scorer([]), cv=3)
        assert (found < without - 0.02).all()
        fair = FairGameClassifier(rule, algorithm=FEW).set_fit_request(sensitive_features=True, sample_weight=True)
        better = cross_val_score(fair, X, y, scoring=score, cv=3, params=params)
        assert better.mean() > found.mean()
        search = GridSearchCV(fair, {"model": ["linear", {"mlp": {"units": 4}}]}, scoring=score, cv=2)
        assert search.fit(X, y, **params).best_score_ > found.mean()
        with pytest.raises(ValueError, match="sensitive_features"):
            cross_val_score(plain, X, y, scoring=fairgame.scorer(rule), cv=3, params={"sensitive_features": group})
    # Without routing the groups are columns of X.
    frame = pd.DataFrame(X).add_prefix("x").assign(group=(group == "a").astype(float))
    assert cross_val_score(LogisticRegression(), frame, y, scoring=fairgame.scorer(rule), cv=3).mean() < -0.2


def test_it_can_be_pickled_and_shown():
    score = fairgame.scorer([RULE], penalty=2)
    assert repr(pickle.loads(pickle.dumps(score))) == repr(score)
    assert repr(score) == f"fairgame.scorer([{RULE!r}], objective='error()', penalty=2.0)"


def test_refused():
    for wrong, said in ((["recal() >= 0.5"], "recall"), ("recall() >= 0.5", "a list")):
        with pytest.raises(ValueError, match=said):
            fairgame.scorer(wrong)
    with pytest.raises(ValueError, match="accurac"):
        fairgame.scorer([], objective="accurac()")
    for penalty in (-1, np.nan, np.inf, "1", True):
        with pytest.raises(ValueError, match="penalty"):
            fairgame.scorer([], penalty=penalty)
    X, y = people(300, 3)
    model = LogisticRegression().fit(numbers(X), y)
    with pytest.raises(ValueError, match="given as sensitive_features"):
        fairgame.scorer([RULE])(model, numbers(X), y)
    with pytest.raises(ValueError, match="was not fitted on: maybe"):
        fairgame.scorer([])(model, numbers(X), np.where(y == "no", "maybe", y))
    three = LogisticRegression().fit(numbers(X), np.arange(300) % 3)
    with pytest.raises(ValueError, match="has 3"):
        fairgame.scorer([])(three, numbers(X), np.arange(300) % 3)
    with pytest.raises(ValueError, match="nothing to measure"):
        fairgame.scorer(["recall(x0 > 100) >= 0.5"])(model, numbers(X), y)


def test_what_is_not_routed_or_not_strict():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(300, 2)), rng.random(300) < 0.5
    search = GridSearchCV(
        LogisticRegression(),
        {"C": [1.0]},
        scoring=fairgame.scorer(["positive_rate(each group) >= 0.1"]),
        error_score="raise",
    )
    with pytest.raises(ValueError, match=r"enable_metadata_routing=True\) and scorer.set_score_request"):
        search.fit(X, y)
    for compare in (lambda: fairgame.rates.recall() > 0.7, lambda: fairgame.rates.recall() < 0.7):
        with pytest.raises(TypeError, match="not strict: write [<>]="):
            compare()
