"""Any estimator with probabilities or scores can be wrapped: one fit per fold, and constraints over its scores."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

from fairgame import FairGameClassifier

RULE = "positive_rate(each sex) >= 0.8 * positive_rate()"


def people(rows, seed):
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], size=rows, p=[0.4, 0.6])
    skill = rng.normal(size=rows) + 0.5 * (sex == "m")
    X = pd.DataFrame({"skill": skill, "noise": rng.normal(size=rows), "sex": pd.Categorical(sex)})
    y = np.where(skill + rng.normal(size=rows) > 0.8, "yes", "no")
    return X, y


def numbers(X):
    return X[["skill", "noise"]].to_numpy()


class Counted(LogisticRegression):
    """How often, and with how many rows, copies were fitted."""

    fits = []

    def fit(self, X, y, sample_weight=None):
        Counted.fits.append((len(y), None if sample_weight is None else float(np.sum(sample_weight))))
        return super().fit(X, y, sample_weight)


def test_one_fit_per_fold():
    X, y = people(1500, 0)
    Counted.fits.clear()
    model = FairGameClassifier([RULE], estimator=Counted()).fit(numbers(X), y, sensitive_features=X[["sex"]])
    assert len(Counted.fits) == len(model.estimators_) == 5
    # A fifth judges, and the others teach.
    assert all(1190 <= rows <= 1210 for rows, _ in Counted.fits)
    assert list(model.classes_) == ["no", "yes"]


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(),
        HistGradientBoostingClassifier(max_iter=20),
        RandomForestClassifier(n_estimators=20, min_samples_leaf=20, random_state=0),
        CalibratedClassifierCV(GaussianNB(), cv=3),
        GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=3),
        make_pipeline(StandardScaler(), LogisticRegression()),
        KNeighborsClassifier(50),  # fit takes no weights
        LinearSVC(),  # has no predict_proba
    ],
    ids=lambda one: type(one).__name__,
)
def test_constraints_hold_on_new_rows(estimator):
    X, y = people(3000, 1)
    fresh, labels = people(12000, 2)
    model = FairGameClassifier([RULE], estimator=estimator, n_jobs=1)
    model.fit(numbers(X), y, sensitive_features=X[["sex"]])
    found = model.evaluate(numbers(fresh), labels, sensitive_features=fresh[["sex"]])
    assert max(one["value"] for one in found.constraints) < 0.02
    # Sex is no feature, and skill tells it: the rule costs accuracy, with any model.
    own = FairGameClassifier([RULE]).fit(numbers(X), y, sensitive_features=X[["sex"]])
    accuracy = [(one.predict(numbers(fresh)) == labels).mean() for one in (model, own)]
    assert accuracy[0] > accuracy[1] - 0.03
    assert model.standing_ in ("enforced", "promised")


def test_frames_and_groups_that_are_features():
    X, y = people(3000, 3)
    fresh, labels = people(12000, 4)
    columns = ColumnTransformer([("sex", OneHotEncoder(), ["sex"])], remainder="passthrough")
    model = FairGameClassifier([RULE], estimator=make_pipeline(columns, LogisticRegression()), margin="95%")
    model.fit(X, y)
    found = model.evaluate(fresh, labels)
    assert model.standing_ == "promised"
    assert max(one["value"] for one in found.constraints) <= 0
    # The same decisions again, and from a pickle.
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict(fresh) == model.predict(fresh)).all()
    assert clone(model).estimator is not None
    assert "fairgame" in model.report()


def test_lightgbm_with_categories_and_missing_values():
    lightgbm = pytest.importorskip("lightgbm")
    X, y = people(3000, 5)
    X.loc[::7, "skill"] = np.nan
    estimator = lightgbm.LGBMClassifier(n_estimators=20, verbose=-1)
    model = FairGameClassifier([RULE], estimator=estimator).fit(X, y)
    assert max(one["value"] for one in model.evaluations_["val"].constraints) <= 1e-6


def test_xgboost(tmp_path):
    xgboost = pytest.importorskip("xgboost")
    X, y = people(3000, 5)
    fresh, truth = people(12000, 6)
    X.loc[::7, "skill"] = fresh.loc[::7, "skill"] = np.nan
    # It takes labels 0 and 1 only.
    y, truth = (y == "yes").astype(int), (truth == "yes").astype(int)
    estimator = xgboost.XGBClassifier(n_estimators=20, max_depth=3, enable_categorical=True)
    weigh = lambda rows: np.where(rows["sex"] == "f", 2.0, 1.0)
    model = FairGameClassifier([RULE], estimator=estimator, margin="95%").fit(X, y, sample_weight=weigh(X))
    assert model.standing_ == "promised" and len(model.estimators_) == 5
    found = model.evaluate(fresh, truth, sample_weight=weigh(fresh))
    assert max(one["value"] for one in found.constraints) <= 0
    model.save(tmp_path / "m.safetensors")
    again = FairGameClassifier.load(tmp_path / "m.safetensors")
    assert np.array_equal(again.predict_proba(fresh), model.predict_proba(fresh))
    with pytest.raises(ValueError):
        FairGameClassifier([RULE], estimator=estimator).fit(X, np.where(y == 1, "yes", "no"))


def test_weights_are_passed_or_refused():
    X, y = people(1200, 6)
    weights = np.where(X["sex"] == "f", 2.0, 1.0)
    Counted.fits.clear()
    model = FairGameClassifier(["recall() >= 0.7"], estimator=Counted())
    model.fit(numbers(X), y, sample_weight=weights)
    assert all(weight > rows for rows, weight in Counted.fits)
    model = FairGameClassifier(["recall() >= 0.7"], estimator=KNeighborsClassifier())
    with pytest.raises(ValueError, match="KNeighborsClassifier does not take one"):
        model.fit(numbers(X), y, sample_weight=weights)


def test_prefit():
    values = []
    for seed in (20, 30, 40, 50):
        (X, y), (more, labels), (fresh, truth) = people(2000, seed), people(2000, seed + 1), people(12000, seed + 2)
        fitted = LogisticRegression().fit(numbers(X), y)
        model = FairGameClassifier(["recall() >= 0.8"], estimator=fitted, prefit=True).fit(numbers(more), labels)
        assert model.estimators_ == [fitted]
        assert any("was not trained on these rows" in notice for notice in model.notices_)
        values.append(model.evaluate(numbers(fresh), truth).constraints[0]["value"])
    # With a margin of one standard error the mean is met, and single draws within their noise.
    assert np.mean(values) <= 0 and max(values) < 0.04
    with pytest.raises(ValueError, match="is not fitted"):
        FairGameClassifier(estimator=LogisticRegression(), prefit=True).fit(numbers(X), y)


def test_validation_rows():
    X, y = people(2000, 10)
    more, labels = people(2000, 11)
    model = FairGameClassifier(["recall() >= 0.8"], estimator=LogisticRegression())
    model.fit(numbers(X), y, validation=(numbers(more), labels))
    assert len(model.estimators_) == 1
    assert model.evaluations_["val"].constraints[0]["value"] <= 1e-6


class Odd(ClassifierMixin, BaseEstimator):
    """Gives what it is told to give."""

    def __init__(self, gives="nan"):
        self.gives = gives

    def fit(self, X, y):
        self.classes_ = np.array(["a", "b", "c"]) if self.gives == "three" else np.unique(y)
        return self

    def predict_proba(self, X):
        p = np.linspace(0.1, 0.9, len(X))
        p[3] = {"nan": np.nan, "large": 1.5}.get(self.gives, 0.5)
        if self.gives == "same":
            p[:] = 0.3
        found = np.column_stack([1 - p, p])
        return found[:, :1] if self.gives == "one column" else found


@pytest.mark.parametrize(
    "estimator, said",
    [
        (Odd("nan"), "row 3 the score nan"),
        (Odd("large"), "row 3 the score 1.5"),
        (Odd("three"), "fitted on 3 classes"),
        (Odd("one column"), "must have two columns"),
        (Odd("same"), "ignores the columns"),
        (LogisticRegression, "give an instance"),
        ("prefit", "and prefit=True"),
        (StandardScaler(), "neither predict_proba nor decision_function"),
        ("lightgbm", "has no fit"),
    ],
    ids=str,
)
def test_refused(estimator, said):
    X, y = people(300, 12)
    with pytest.raises(ValueError, match=said):
        FairGameClassifier(["recall() >= 0.8"], estimator=estimator).fit(numbers(X), y)


def test_an_estimator_that_knows_its_rows_by_heart():
    # Calibrated by the rows that it knows, it would be taken to be always right.
    X, y = people(3000, 14)
    more, labels = people(3000, 15)
    fresh, truth = people(12000, 16)
    forest = RandomForestClassifier(n_estimators=30, random_state=0)
    model = FairGameClassifier(["precision() >= 0.7"], objective="fnr()", estimator=forest)
    model.fit(numbers(X), y, validation=(numbers(more), labels))
    found = model.evaluate(numbers(fresh), truth)
    assert found.constraints[0]["value"] < 0.02
    assert not any("was not trained on these rows" in notice for notice in model.notices_)


def test_refused_together():
    X, y = people(300, 13)
    with pytest.raises(ValueError, match="as an array or as a frame"):
        FairGameClassifier(estimator=LogisticRegression()).fit(dict(X), y)
    for more in ({"model": "linear"}, {"algorithm": "practical"}, {"recipe": "paper"}, {"datasets": "two"}, {"datasets": "one"}):
        with pytest.raises(ValueError):
            FairGameClassifier(estimator=LogisticRegression(), **more).fit(numbers(X), y)
    with pytest.raises(ValueError, match="there is no estimator"):
        FairGameClassifier(prefit=True).fit(numbers(X), y)
    fitted = LogisticRegression().fit(np.zeros((4, 5)), [0, 1, 0, 1])
    with pytest.raises(ValueError, match="fitted on 5 columns, and X has 2"):
        FairGameClassifier(estimator=fitted, prefit=True).fit(numbers(X), y)
    some = X[["skill", "noise"]]
    fitted = LogisticRegression().fit(some.rename(columns={"noise": "sound"}), y)
    with pytest.raises(ValueError, match="`noise` is none of them"):
        FairGameClassifier(estimator=fitted, prefit=True).fit(some, y)
    with pytest.raises(ValueError, match="`noise` stands elsewhere"):
        FairGameClassifier(estimator=LogisticRegression().fit(some, y), prefit=True).fit(some[["noise", "skill"]], y)
    three = LogisticRegression().fit(numbers(X), np.arange(300) % 3)
    with pytest.raises(ValueError, match="fitted on 3 classes"):
        FairGameClassifier(estimator=three, prefit=True).fit(numbers(X), y)


def test_catboost():
    catboost = pytest.importorskip("catboost")
    X, y = people(2000, 17)
    estimator = catboost.CatBoostClassifier(iterations=20, verbose=0, allow_writing_files=False, thread_count=1)
    model = FairGameClassifier([RULE], estimator=estimator).fit(numbers(X), y, sensitive_features=X[["sex"]])
    assert max(one["value"] for one in model.evaluations_["val"].constraints) <= 1e-6
    assert set(model.predict(numbers(X))) == {"no", "yes"}


@pytest.mark.parametrize("offset", [0, 5, 20, 1000, -15])
def test_scores_with_an_offset_are_calibrated(offset):
    X, y = people(1500, 20)

    class Offset(LinearSVC):
        def decision_function(self, X):
            return super().decision_function(X) + offset

    model = FairGameClassifier([RULE], estimator=Offset()).fit(numbers(X), y, sensitive_features=X[["sex"]])
    assert model.evaluations_["val"].objective["value"] < 0.305, offset


def test_probabilities_beyond_one_by_rounding():
    X, y = people(600, 21)

    class Rounded(LogisticRegression):
        def predict_proba(self, X):
            found = super().predict_proba(X)
            found[0] = [-2.2e-16, 1 + 2.2e-16]
            return found

    model = FairGameClassifier(["recall() >= 0.7"], estimator=Rounded()).fit(numbers(X), y)
    assert len(model.predict(numbers(X))) == 600


def test_stacks_searches_votes_and_pipelines():
    X, y = people(600, 22)
    stack = StackingClassifier([("a", GaussianNB()), ("b", LogisticRegression())])
    model = FairGameClassifier(["recall() >= 0.7"], estimator=stack).fit(numbers(X), y)
    assert len(model.estimators_) == 5
    weight = np.where(y == "yes", 2.0, 1.0)
    for estimator, seen in [
        (GridSearchCV(Counted(), {"C": [1.0]}, cv=2, refit=True), 3),
        (VotingClassifier([("a", Counted()), ("b", GaussianNB())], voting="soft"), 1),
        (make_pipeline(StandardScaler(), Counted()), 1),
        (GridSearchCV(make_pipeline(StandardScaler(), Counted()), {"counted__C": [1.0]}, cv=2), 3),
    ]:
        Counted.fits.clear()
        FairGameClassifier(["recall() >= 0.7"], estimator=estimator).fit(numbers(X), y, sample_weight=weight)
        assert len(Counted.fits) == 5 * seen and all(total is not None for _, total in Counted.fits)
    for wrong in (make_pipeline(StandardScaler(), KNeighborsClassifier()), GridSearchCV(KNeighborsClassifier(), {})):
        with pytest.raises(ValueError, match="does not take one"):
            FairGameClassifier(["recall() >= 0.7"], estimator=wrong).fit(numbers(X), y, sample_weight=weight)


def test_what_gives_no_scores():
    X, y = people(600, 23)
    with pytest.raises(ValueError, match="LinearRegression is a regressor"):
        FairGameClassifier(["recall() >= 0.7"], estimator=LinearRegression()).fit(numbers(X), y)

    class Silent(ClassifierMixin, BaseEstimator):
        fits = 0

        def fit(self, X, y):
            Silent.fits += 1
            return self

    with pytest.raises(ValueError, match="use a classifier that has one of them"):
        FairGameClassifier(["recall() >= 0.7"], estimator=Silent()).fit(numbers(X), y)
    assert Silent.fits == 1
