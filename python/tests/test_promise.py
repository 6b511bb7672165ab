"""What training says of each constraint, margins, and rows that belong together."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, cross_val_score

import fairgame
from fairgame import FairGameClassifier, FairGameWarning

from conftest import FEW

FLOOR = "recall(each group) >= 0.7"
KEYS = ["name", "value", "optimism", "asked", "margin", "estimate", "low", "high", "standing"]


def fit(people, **more):
    X, y, group = people
    more.setdefault("constraints", [FLOOR])
    return FairGameClassifier(algorithm=FEW, **more).fit(X, y, sensitive_features=group)


def test_what_training_says(people):
    fitted = fit(people)
    assert fitted.standing_ == "enforced"
    assert [one["name"] for one in fitted.enforcement_] == fitted.constraints_ == list(fitted.prices_)
    assert list(pd.DataFrame(fitted.enforcement_).columns) == KEYS
    for one in fitted.enforcement_:
        assert one["value"] + max(one["optimism"], 0) == pytest.approx(one["estimate"], abs=1e-6)
        assert one["low"] <= one["estimate"] <= one["high"] and one["standing"] == "enforced"
        assert one["margin"] == pytest.approx(one["asked"], abs=1e-6)
    assert fitted.margin_price_ > 0 and max(fitted.prices_.values()) > 0
    free = FairGameClassifier(algorithm=FEW).fit(*people[:2])
    assert (free.enforcement_, free.prices_) == ([], {})


def test_margins(people):
    asked = lambda margin, **more: fit(people, margin=margin, **more).enforcement_[0]["asked"]
    one = asked(1)
    assert one == fit(people).enforcement_[0]["asked"], "one standard error is the default"
    assert 1.8 * one < asked(2) < 2.2 * one
    assert asked("none") == 0 < one
    assert asked(1, recipe="paper", datasets={"two": {"val_fraction": 0.3}}) > 0
    promised = fit(people, margin="95%")
    assert promised.standing_ == "promised" and {one["standing"] for one in promised.enforcement_} == {"promised"}
    gate = fit(people, margin="gate:95%@9000")
    assert gate.enforcement_[0]["asked"] > promised.enforcement_[0]["asked"] > one
    # As a setting of the selection it is the same, and the other settings stay.
    spelt = fit(people, selection={"shrink": {"margin": {"confidence": 0.95}}})
    assert spelt.enforcement_ == promised.enforcement_
    fewer = fit(people, margin="95%", selection={"shrink": {"thresholds": 5}})
    assert fewer.standing_ == "promised" and fewer.enforcement_ != promised.enforcement_


@pytest.mark.parametrize(
    "settings, message",
    [
        (dict(margin="much"), "`much` is neither standard errors"),
        (dict(margin=-1), "a margin of -1 standard errors"),
        (dict(margin="100%"), "such as 95%"),
        (dict(margin="gate:95%"), "nor a gate"),
        (dict(margin="95%", selection="last"), "the selection `shrink` or `rule` only"),
        (dict(margin="95%", selection={"shrink": {"margin": 1}}), "given twice"),
        (dict(settings={"unit": "id"}), "an argument of its own, groups"),
    ],
)
def test_wrong_margins(people, settings, message):
    with pytest.raises(ValueError, match=message):
        fit(people, **settings)


def test_violated_is_a_warning(people):
    with pytest.warns(FairGameWarning, match="`recall\\(\\) >= 0.99` is violated by"):
        fitted = fit(people, constraints=["recall() >= 0.99", "fpr() <= 0.01"])
    assert fitted.standing_ == "violated"
    assert [one["standing"] for one in fitted.enforcement_] == ["violated"] * 2
    with pytest.warns(FairGameWarning, match="not promised(.|\n)*have also taught"):
        assert fit(people, margin="95%", datasets="one").standing_ == "enforced"
    with warnings.catch_warnings():
        warnings.simplefilter("error", FairGameWarning)
        fit(people, margin="95%")


def test_it_is_kept(people, tmp_path):
    X, y, group = people
    fitted = fit(people, margin="95%", random_state=4)
    fitted.save(tmp_path / "m.safetensors")
    loaded = fairgame.load(tmp_path / "m.safetensors")
    for other in (loaded, pickle.loads(pickle.dumps(fitted))):
        for name in ("enforcement_", "standing_", "margin_price_", "prices_"):
            assert getattr(other, name) == getattr(fitted, name), name
    assert fitted.get_params()["margin"] == clone(fitted).margin == "95%"
    assert loaded.margin == {"confidence": 0.95} and "margin" not in loaded.selection["shrink"]
    again = clone(loaded).fit(X, y, sensitive_features=group)
    assert again.enforcement_ == fitted.enforcement_
    other = clone(loaded).set_params(margin=1).fit(X, y, sensitive_features=group)
    assert other.standing_ == "enforced"


def test_functions_have_margins(people):
    X, y, group = people
    table = {"skill": X[:, 0], "years": X[:, 1], "group": group, "hired": y, "person": np.arange(len(y)) // 2}
    policy = {"label": "hired", "constraints": [FLOOR], "algorithm": FEW, "encoder": {"ignore": ["group"]}}
    policy |= {"unit": "person", "selection": {"shrink": {"margin": 1, "thresholds": 9}}}
    trained = fairgame.train(policy, table, margin="95%")
    assert trained.standing_ == "promised" and trained.selection["shrink"]["thresholds"] == 9
    assert fairgame.train(policy, table).standing_ == "enforced"
    assert trained.evaluations_["val"].units == 1500
    with pytest.raises(ValueError, match="`much` is neither"):
        fairgame.train(policy, table, margin="much")


def thrice(people):
    """400 people with three equal rows each, and which person a row is of."""
    rows = np.repeat(np.arange(400), 3)
    return *(part[rows] for part in people), rows


def test_groups_stay_together():
    """Rows whose copies taught the model look better than new rows are; with groups they do not."""
    rng = np.random.default_rng(3)
    person = np.repeat(np.arange(200), 5)
    X = rng.normal(size=(200, 30))[person]
    y = rng.permutation(np.arange(200) % 2 == 0)[person]  # Nothing to learn but who is who.
    constraints, few = ["positive_rate() >= 0.3"], {"practical": {"turns": 20000}}
    held = lambda **more: FairGameClassifier(constraints, algorithm=few).fit(X, y, **more).evaluations_["val"]
    by_person, found = held(groups=person), held()
    # Rows that are equal in all columns stay together by themselves.
    assert 0.42 < by_person.error < 0.58 and 0.42 < found.error < 0.58
    assert (found.units, by_person.units) == (200, 200)
    # Those that differ in a column do not.
    X[:, 29] += 1e-6 * np.arange(1000)
    by_row = held()
    assert by_row.error < 0.4 and by_row.units is None


def test_groups_in_every_form(people):
    X, y, group, person = thrice(people)
    wide = FairGameClassifier([FLOOR], algorithm=FEW).fit(X, y, sensitive_features=group, groups=person)
    narrow = FairGameClassifier([FLOOR], algorithm=FEW).fit(X, y, sensitive_features=group)
    width = lambda fitted: fitted.enforcement_[0]["high"] - fitted.enforcement_[0]["low"]
    assert width(wide) == pytest.approx(width(narrow), rel=0.25)  # Copies are found without groups, too.
    assert any("exact copies" in notice for notice in narrow.notices_)
    assert not any("exact copies" in notice for notice in wide.notices_)
    assert wide.n_features_in_ == 4 and np.isfinite(wide.decision_function(X)).all()
    scores = wide.decision_function(X)
    for given in (person.astype(str), pd.Series(person), list(person), pd.Series(person.astype(str)).astype("category")):
        other = clone(wide).fit(X, y, sensitive_features=group, groups=given)
        assert np.array_equal(other.decision_function(X), scores), type(given)
    # By the name of a column, which is then no feature; other columns may be called `unit` already.
    frame = pd.DataFrame(X, columns=["unit", "unit_", "c", "d"])
    named = clone(wide).fit(frame.assign(person=person), y, sensitive_features=group, groups="person")
    unnamed = clone(wide).fit(frame, y, sensitive_features=group, groups=person)
    assert np.array_equal(named.decision_function(frame.assign(person=0)), unnamed.decision_function(frame))
    assert np.array_equal(unnamed.decision_function(frame), scores)
    missing = np.where(person == 7, np.nan, person)
    gaps = clone(wide).fit(X, y, sensitive_features=group, groups=missing)
    assert gaps.evaluations_["val"].units == 402
    assert any("3 of the rows have no unit" in notice for notice in gaps.notices_)
    # Rows that training saw are known again, though they lack the column of units.
    X, y, group = people
    model = clone(wide).fit(X, y, sensitive_features=group, groups=np.arange(len(y)) // 3)
    with pytest.warns(FairGameWarning, match="are among these"):
        model.evaluate(X, y, sensitive_features=group)


def test_groups_of_validation_rows(people):
    X, y, group, person = thrice(people)
    cut = lambda part: (part[:900], part[900:])
    (X, X_val), (y, y_val), (group, group_val), (person, person_val) = map(cut, (X, y, group, person))
    model = FairGameClassifier([FLOOR], algorithm=FEW)
    rows = (X_val, y_val, group_val, None, person_val)
    model.fit(X, y, sensitive_features=group, groups=person, validation=rows)
    assert model.evaluations_["val"].units == 100
    for wrong in (dict(groups=person, validation=rows[:4]), dict(validation=rows)):
        with pytest.raises(ValueError, match="give groups for the rows of training and of validation"):
            model.fit(X, y, sensitive_features=group, **wrong)
    with pytest.raises(ValueError, match="sensitive_features, sample_weight and groups after them"):
        model.fit(X, y, validation=(*rows, None))


def test_wrong_groups(people):
    X, y, group = people
    for given, message in ((np.arange(3), "3 values for 3000 rows"), ("person", "'person', and there is no such column")):
        with pytest.raises(ValueError, match=message):
            FairGameClassifier([FLOOR], algorithm=FEW).fit(X, y, sensitive_features=group, groups=given)


def test_groups_are_routed(people):
    X, y, _, person = thrice(people)
    with sklearn.config_context(enable_metadata_routing=True):
        model = FairGameClassifier(["recall() >= 0.6"], algorithm=FEW).set_fit_request(groups=True)
        scores = cross_val_score(model, X, y, cv=GroupKFold(3), params={"groups": person}, error_score="raise")
    assert scores.mean() > 0.6
