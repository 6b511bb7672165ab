"""Class weights change the objective, and nothing else."""


import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

import fairgame
from fairgame import FairGameClassifier, rates

from conftest import FEW

RULE = "positive_rate(each group) >= 0.8 * positive_rate()"


def objective_of(model):
    return model.evaluations_["val"].objective


def test_balanced_is_half_of_each_rate(people, tmp_path):
    X, y, group = people
    fit = lambda **more: FairGameClassifier([RULE], algorithm=FEW, **more).fit(X, y, sensitive_features=group)
    balanced, written = fit(class_weight="balanced"), fit(objective="0.5 * fpr() + 0.5 * fnr()")
    assert np.array_equal(balanced.predict_proba(X), written.predict_proba(X))
    assert objective_of(balanced) == objective_of(written)
    found = [one.evaluate(X, y, sensitive_features=group).constraints for one in (balanced, written)]
    assert found[0] == found[1]
    # A clone of a loaded one has the same objective.
    balanced.save(tmp_path / "m.safetensors")
    again = clone(fairgame.load(tmp_path / "m.safetensors")).fit(X, y, sensitive_features=group)
    assert np.array_equal(again.predict_proba(X), balanced.predict_proba(X))


def test_a_dict_is_the_weighted_error(people):
    X, y, _ = people
    labels, weights = np.where(y, "yes", "no"), np.where(X[:, 1] > 0, 2.0, 0.5)
    model = FairGameClassifier(algorithm=FEW, class_weight={"yes": 4}).fit(X, labels, sample_weight=weights)
    each = weights * np.where(y, 4.0, 1.0)
    for part in ("train", "val"):
        text = model.evaluations_[part].objective["name"]
        assert text.count("pr()") == 1 and "fnr()" in text
    found = model.evaluate(X, labels, sample_weight=weights)
    wrong = np.abs(model.predict_proba(X)[:, 1] - y)
    assert found.objective["value"] == pytest.approx(np.average(wrong, weights=each), rel=1e-6)


def test_weights_move_decisions_and_constraints_do_not_follow(people):
    X, y, _ = people
    rate = lambda **more: FairGameClassifier(algorithm=FEW, **more).fit(X, y).predict(X).mean()
    plain, heavy = rate(), rate(class_weight={True: 5})
    assert heavy > plain + 0.1
    same = rate(class_weight={False: 1.0, True: 1.0})
    assert same == pytest.approx(plain, abs=0.03)
    capped = FairGameClassifier(["positive_rate() <= 0.3"], algorithm=FEW, class_weight={True: 5}).fit(X, y)
    assert capped.evaluations_["val"].worst <= 1e-6 and capped.constraints_ == ["positive_rate() <= 0.3"]


def test_with_a_wrapped_estimator(people):
    X, y, _ = people
    of = lambda weight: FairGameClassifier(estimator=LogisticRegression(), class_weight=weight).fit(X, y)
    assert of({True: 5}).predict(X).mean() > of(None).predict(X).mean() + 0.1
    # The estimator itself is fitted as it is.
    assert of({True: 5}).estimators_[0].coef_ == pytest.approx(of(None).estimators_[0].coef_)


@pytest.mark.parametrize(
    "more, said",
    [
        ({"class_weight": "balanced", "objective": "fnr()"}, "objective is `fnr()`"),
        ({"class_weight": "balanced", "objective": rates.fpr()}, "objective is `fpr()`"),
        ({"class_weight": "equal"}, '"balanced", a dict'),
        ({"class_weight": [1, 2]}, '"balanced", a dict'),
        ({"class_weight": {"yes": 1}}, "names 'yes'"),
        ({"class_weight": {True: -1}}, "at least 0"),
        ({"class_weight": {True: float("nan")}}, "at least 0"),
        ({"class_weight": {True: "2"}}, "at least 0"),
        ({"class_weight": {True: 0, False: 0}}, "nothing to minimise"),
    ],
)
def test_refused(people, more, said):
    X, y, _ = people
    with pytest.raises(ValueError, match=said.replace("(", r"\(").replace(")", r"\)")):
        FairGameClassifier(algorithm=FEW, **more).fit(X, y)
