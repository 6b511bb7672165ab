"""Groups that are no columns of X may be modelled by an estimator of the user's: one fit per fold."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from fairgame import FairGameClassifier

PARITY = "positive_rate(each sex) >= 0.9 * positive_rate()"
ODDS = "tpr(each sex) >= 0.95 * tpr()"


def people(rows, seed):
    """Sex is no column of X, but both columns tell something of it."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], size=rows, p=[0.4, 0.6])
    X = pd.DataFrame({"skill": rng.normal(size=rows) + 0.8 * (sex == "m"), "hint": rng.normal(size=rows) + 1.5 * (sex == "m")})
    return X, X["skill"].to_numpy() + rng.normal(size=rows) > 0.8, pd.Series(sex, name="sex")


class Counted(LogisticRegression):
    """What copies were fitted on."""

    fits = []

    def fit(self, X, y, sample_weight=None):
        Counted.fits.append((len(y), np.unique(y).tolist(), sample_weight is not None))
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize("rules, classes", [([PARITY], 4), ([PARITY, ODDS], 4)], ids=["parity", "parity and odds"])
def test_one_fit_per_fold(rules, classes, tmp_path):
    (X, y, sex), (fresh, truth, others) = people(6000, 1), people(30000, 2)
    Counted.fits.clear()
    model = FairGameClassifier(rules, estimator=LogisticRegression(), group_estimator=Counted(), margin="95%")
    model.fit(X, y, sensitive_features=sex)
    assert len(Counted.fits) == len(model.group_estimators_) == 5
    # Its classes are label and group together.
    assert all(4750 < rows < 4850 and len(found) == classes and not weighed for rows, found, weighed in Counted.fits)
    found = model.evaluate(fresh, truth, sensitive_features=others)
    assert model.standing_ == "promised" and max(one["value"] for one in found.constraints) <= 0
    # As good as with trees for the groups: here the logistic model is the true one.
    trees = FairGameClassifier(rules, estimator=LogisticRegression(), margin="95%").fit(X, y, sensitive_features=sex)
    assert found.error < trees.evaluate(fresh, truth, sensitive_features=others).error + 0.01
    # Without the rule, or without a model of the groups, it is violated.
    plain = FairGameClassifier([], estimator=LogisticRegression()).fit(X, y)
    decided = plain.predict(fresh)
    assert decided[others == "f"].mean() < 0.8 * decided.mean()
    model.save(tmp_path / "m.safetensors")
    again = FairGameClassifier.load(tmp_path / "m.safetensors")
    assert np.array_equal(again.predict_proba(fresh), model.predict_proba(fresh))
    assert isinstance(again.group_estimator, Counted) and len(again.group_estimators_) == 5


def test_weights_validation_and_other_estimators():
    (X, y, sex), (more, labels, others) = people(3000, 3), people(3000, 4)
    boosted = HistGradientBoostingClassifier(max_iter=20)
    weights = np.where(sex == "f", 2.0, 1.0)
    Counted.fits.clear()
    model = FairGameClassifier([PARITY], estimator=boosted, group_estimator=Counted())
    model.fit(X, y, sensitive_features=sex, sample_weight=weights)
    assert all(weighed for _, _, weighed in Counted.fits)
    model = FairGameClassifier([PARITY], estimator=boosted, group_estimator=boosted)
    model.fit(X, y, sensitive_features=sex, validation=(more, labels, others))
    assert len(model.group_estimators_) == 1
    assert max(one["value"] for one in model.evaluations_["val"].constraints) <= 1e-6
    fitted = LogisticRegression().fit(more, labels)
    model = FairGameClassifier([PARITY], estimator=fitted, prefit=True, group_estimator=LogisticRegression())
    model.fit(X, y, sensitive_features=sex)
    assert len(model.estimators_) == 1 and len(model.group_estimators_) == 5


class Odd(LogisticRegression):
    def predict_proba(self, X):
        found = super().predict_proba(X)
        found[3] = np.nan
        return found


@pytest.mark.parametrize(
    "more, said",
    [
        ({"group_estimator": LogisticRegression}, "give an instance"),
        ({"group_estimator": LinearSVC()}, "no predict_proba"),
        ({"group_estimator": "trees"}, "has no fit"),
        ({"group_estimator": Odd()}, "gives row 3 the probabilities"),
        ({"group_estimator": LogisticRegression(), "estimator": None}, "goes with estimator"),
        ({"group_estimator": LogisticRegression(), "constraints": ["recall() >= 0.5"]}, "no groups to model"),
    ],
    ids=str,
)
def test_refused(more, said):
    X, y, sex = people(400, 5)
    Counted.fits.clear()
    model = FairGameClassifier(**{"constraints": [PARITY], "estimator": Counted()} | more)
    with pytest.raises(ValueError, match=said):
        model.fit(X, y, sensitive_features=sex)
    # Nothing is fitted that need not be.
    assert not Counted.fits or isinstance(more["group_estimator"], Odd)
    with pytest.raises(ValueError, match="does not take one"):
        model = FairGameClassifier([PARITY], estimator=LogisticRegression(), group_estimator=KNeighborsClassifier())
        model.fit(X, y, sensitive_features=sex, sample_weight=np.ones(400))
