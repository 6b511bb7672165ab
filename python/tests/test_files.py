"""A wrapped estimator is saved beside the model file, and read only if it is the file that was saved."""

import builtins
import hashlib
import json
import pickle
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import LinearSVC

import fairgame
from fairgame import FairGameClassifier, _files

from test_wrapped import RULE, numbers, people

RECALL = ["recall() >= 0.7"]


def of_frames():
    columns = ColumnTransformer([("sex", OneHotEncoder(), ["sex"])], remainder="passthrough")
    return make_pipeline(columns, LogisticRegression())


@pytest.fixture(scope="module")
def fitted():
    X, y = people(1500, 0)
    return FairGameClassifier([RULE], estimator=of_frames(), margin=2, random_state=4).fit(X, y)


@pytest.mark.parametrize("form", ["joblib", "skops"])
def test_a_loaded_classifier_is_the_one_that_was_saved(fitted, form, tmp_path):
    if form == "skops":
        pytest.importorskip("skops")
    path = tmp_path / "m.safetensors"
    fitted.save(path, estimators=form)
    [beside] = tmp_path.glob(f"m.safetensors.????????.{form}")
    assert sorted(tmp_path.iterdir()) == [path, beside]
    companion = json.loads(fairgame._fairgame.Classifier.load(path).describe())["companion"]
    assert companion["sha256"] == hashlib.sha256(beside.read_bytes()).hexdigest()
    assert companion["estimators"] == ["Pipeline"] * 5 and companion["features"] == ["skill", "noise", "sex"]
    # skops does not know it with some versions of scikit-learn.
    trusted = ["sklearn.compose._column_transformer._RemainderColsList"] if form == "skops" else None
    again, (fresh, truth) = fairgame.load(path, trusted=trusted), people(3000, 1)
    for one in (again, pickle.loads(pickle.dumps(again))):
        assert np.array_equal(one.predict(fresh), fitted.predict(fresh))
        assert np.array_equal(one.predict_proba(fresh), fitted.predict_proba(fresh))
    assert again.evaluate(fresh, truth).constraints == fitted.evaluate(fresh, truth).constraints
    assert again.report(test=(fresh, truth)) == fitted.report(test=(fresh, truth))
    assert again.n_features_in_ == 3 and list(again.feature_names_in_) == ["skill", "noise", "sex"]
    with pytest.raises(ValueError, match="feature names should match"):
        again.predict(fresh.rename(columns={"noise": "other"}))
    # A clone trains the same classifier.
    assert (again.model, again.prefit, again.margin) == ("auto", False, {"errors": 2.0})
    assert isinstance(again.estimator, type(fitted.estimator)) and len(again.estimators_) == 5
    X, y = people(1500, 0)
    assert np.array_equal(clone(again).fit(X, y).predict_proba(fresh), fitted.predict_proba(fresh))
    # And it can be saved again, elsewhere.
    again.save(tmp_path / "n.safetensors", estimators=form)
    again = fairgame.load(tmp_path / "n.safetensors", trusted=trusted)
    assert np.array_equal(again.predict(fresh), fitted.predict(fresh))


def test_arrays_and_prefit_and_scores_without_probabilities(tmp_path):
    X, y = people(1500, 2)
    more, labels = people(1500, 3)
    svc = LinearSVC().fit(numbers(X), y)
    model = FairGameClassifier(RECALL, estimator=svc, prefit=True).fit(numbers(more), labels)
    model.save(tmp_path / "m.safetensors")
    again = fairgame.load(tmp_path / "m.safetensors")
    assert again.prefit and again.estimator is again.estimators_[0]
    assert np.array_equal(again.predict(numbers(X)), model.predict(numbers(X)))
    # By position, as with the classifier that was saved.
    renamed = pd.DataFrame(numbers(X), columns=["a", "b"])
    with pytest.warns(UserWarning, match="feature names"):
        assert np.array_equal(again.predict(renamed), model.predict(numbers(X)))
    with pytest.raises(ValueError, match="3 features"):
        again.predict(np.zeros((4, 3)))
    assert np.array_equal(again.fit(numbers(more), labels).predict(numbers(X)), model.predict(numbers(X)))
    with pytest.raises(ValueError, match="FrozenEstimator"):
        clone(again).fit(numbers(more), labels)
    kept = FairGameClassifier(RECALL, estimator=FrozenEstimator(svc), prefit=True)
    assert np.array_equal(clone(kept).fit(numbers(more), labels).predict(numbers(X)), model.predict(numbers(X)))
    # Other names for the labels, which the estimator does not know.
    other = fairgame.load(tmp_path / "m.safetensors", classes=[0, 1])
    assert np.array_equal(other.predict(numbers(X)), (model.predict(numbers(X)) == "yes").astype(int))


def test_whole_tables(fitted, tmp_path):
    fresh, truth = people(3000, 5)
    wanted = fitted.evaluate(fresh, truth).constraints
    table = fresh.assign(label=truth, more=1.0)
    fitted.save(tmp_path / "m.safetensors")
    assert fairgame.evaluate(fitted, table).constraints == wanted
    assert fairgame.evaluate(tmp_path / "m.safetensors", table[table.columns[::-1]]).constraints == wanted
    X, y = people(1500, 6)
    array = FairGameClassifier(RECALL, estimator=LogisticRegression()).fit(numbers(X), y)
    wanted = array.evaluate(numbers(fresh), truth).constraints
    for frame in (pd.DataFrame, pl.DataFrame):
        table = frame({"x0": fresh["skill"].to_numpy(), "x1": fresh["noise"].to_numpy(), "label": truth})
        assert fairgame.evaluate(array, table).constraints == wanted
        with pytest.raises(ValueError, match="needs the column `x1`"):
            fairgame.evaluate(array, frame({"x0": fresh["skill"].to_numpy(), "label": truth}))
    with pytest.raises(ValueError, match="a frame of pandas or polars"):
        fairgame.evaluate(array, {"x0": [1.0], "x1": [2.0], "label": ["yes"]})


class Bomb:
    """Marks a folder when it is unpickled."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return builtins.open, (self.mark, "w")


def test_another_file_is_never_unpacked(fitted, tmp_path):
    path, mark = tmp_path / "m.safetensors", tmp_path / "mark"
    fitted.save(path)
    [beside] = tmp_path.glob("m.safetensors.????????.joblib")
    whole = beside.read_bytes()
    beside.write_bytes(pickle.dumps(Bomb(str(mark))))
    with pytest.raises(ValueError, match="not the file that was saved with this model"):
        fairgame.load(path)
    assert not mark.exists()
    beside.write_bytes(whole[:-1])
    with pytest.raises(ValueError, match="SHA-256"):
        fairgame.load(path)
    beside.unlink()
    with pytest.raises(ValueError, match=r"Pipeline.*missing"):
        fairgame.load(path)
    # Our own pickle warns once a load.
    beside.write_bytes(whole)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fairgame.load(path)
    said = [str(one.message) for one in caught if issubclass(one.category, fairgame.FairGameWarning)]
    assert len(said) == 1 and "unpickling runs the code" in said[0]


def test_types_that_skops_does_not_know(tmp_path, monkeypatch):
    pytest.importorskip("skops")
    X, y = people(600, 7)
    model = FairGameClassifier(RECALL, estimator=Known()).fit(numbers(X), y)
    path = tmp_path / "m.safetensors"
    model.save(path, estimators="skops")
    kind = f"{Known.__module__}.Known"
    with pytest.raises(ValueError, match=kind.replace(".", r"\.")):
        fairgame.load(path)
    again = fairgame.load(path, trusted=[kind])
    assert np.array_equal(again.predict(numbers(X)), model.predict(numbers(X)))
    # Without skops there is a clear error, both ways.
    monkeypatch.setitem(sys.modules, "skops.io", None)
    for does in (lambda: fairgame.load(path), lambda: model.save(path, estimators="skops")):
        with pytest.raises(ValueError, match="pip install skops"):
            does()


class Known(LogisticRegression):
    """A type of one's own."""


def test_refused(fitted, tmp_path):
    path = tmp_path / "m.safetensors"
    with pytest.raises(ValueError, match='"joblib" or "skops"'):
        fitted.save(path, estimators="pickle")
    with pytest.raises(ValueError, match="without a dot in front"):
        fitted.save(tmp_path / ".m")
    assert list(tmp_path.iterdir()) == []
    fitted.save(path)
    with pytest.raises(ValueError, match="trusted names types of a skops file"):
        fairgame.load(path, trusted=["a.B"])
    X, y = people(600, 8)
    FairGameClassifier(RECALL, algorithm={"practical": {"turns": 500}}).fit(numbers(X), y).save(path)
    with pytest.raises(ValueError, match="has no such file"):
        fairgame.load(path, trusted=["a.B"])


def test_a_model_is_replaced_as_a_whole(fitted, tmp_path, monkeypatch):
    path = tmp_path / "m.safetensors"
    fitted.save(path)
    X, y = people(600, 9)
    other = FairGameClassifier(RECALL, estimator=LogisticRegression()).fit(numbers(X), y)
    before = {one.name: one.read_bytes() for one in tmp_path.iterdir()}
    # The model file cannot be replaced: the old pair is as it was, and can be read.
    with monkeypatch.context() as broken:
        broken.setattr(_files, "write_whole", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
        with pytest.raises(OSError, match="disk full"):
            other.save(path)
    assert {one.name: one.read_bytes() for one in tmp_path.iterdir()} == before
    held = {}

    class Unwritable:
        def with_companion(self, text):
            held.update(json.loads(text))
            return self

        def save(self, _):
            assert (tmp_path / held["file"]).exists()
            fairgame.load(path)
            raise OSError("killed")

    with monkeypatch.context() as broken:
        broken.setattr(other, "_classifier", Unwritable())
        with pytest.raises(OSError, match="killed"):
            other.save(path)
    assert {one.name: one.read_bytes() for one in tmp_path.iterdir()} == before
    # Once it is replaced, only the new pair is there; a model of our own has no other file.
    other.save(path)
    assert len(list(tmp_path.iterdir())) == 2 and fairgame.load(path).n_features_in_ == 2
    quick = FairGameClassifier(RECALL, algorithm={"practical": {"turns": 500}}).fit(numbers(X), y)
    quick.save(path)
    assert list(tmp_path.iterdir()) == [path]


def test_permissions_and_links(fitted, tmp_path):
    path, page = tmp_path / "m.safetensors", tmp_path / "r.html"
    fitted.save(path)
    path.chmod(0o600)
    FairGameClassifier(RECALL, estimator=LogisticRegression()).fit(numbers(people(600, 9)[0]), people(600, 9)[1]).save(path)
    assert [one.stat().st_mode & 0o777 for one in tmp_path.iterdir()] == [0o600, 0o600]
    page.write_text("old")
    page.chmod(0o600)
    other = tmp_path / "other"
    other.write_text("mine")
    (tmp_path / "r.html.part").symlink_to(other)
    fitted.report(page)
    assert page.stat().st_mode & 0o777 == 0o600 and page.read_text().startswith("<!doctype html>")
    assert other.read_text() == "mine" and (tmp_path / "r.html.part").is_symlink()
    # What a link leads to is written, and one that leads nowhere is refused.
    link, nowhere = tmp_path / "link.html", tmp_path / "nowhere.html"
    link.symlink_to(page)
    fitted.report(link)
    assert link.is_symlink()
    nowhere.symlink_to(tmp_path / "gone")
    with pytest.raises(OSError, match="a link to a file that does not exist"):
        fitted.report(nowhere)


def test_columns_that_are_no_features(tmp_path):
    X, y = people(1500, 10)
    X["pid"], X["fnlwgt"] = np.repeat(np.arange(500), 3), 1.0 * np.arange(1500)
    model = FairGameClassifier(
        [RULE], estimator=Wanted(["skill", "noise", "sex"]), settings={"encoder": {"ignore": ["fnlwgt"]}}
    )
    model.fit(X, y, groups="pid")
    assert model.features_in_use_ == ["skill", "noise", "sex"]
    assert {one["column"] for one in model.importance_} == {"skill", "noise", "sex"}
    assert model.feature_importances_.shape == (5,) and model.n_features_in_ == 5
    path = tmp_path / "m.safetensors"
    model.save(path)
    again, shuffled = fairgame.load(path), X.assign(pid=0, fnlwgt=-1.0)
    assert again.features_in_use_ == ["skill", "noise", "sex"]
    assert np.array_equal(again.predict(shuffled), model.predict(X))
    table = X.drop(columns=["pid", "fnlwgt"]).assign(label=y)
    assert fairgame.evaluate(again, table).rows == 1500
    # Neither does it see the label, if X has it.
    model.fit(X.assign(label=y), pd.Series(y, name="label"), groups="pid")
    assert "label" not in model.features_in_use_
    # One that was fitted before is told which columns it does not get.
    fitted = make_pipeline(of_frames()).fit(X, y)
    with pytest.raises(ValueError, match="without pid, which are no features"):
        FairGameClassifier([RULE], estimator=fitted, prefit=True).fit(X, y, groups="pid")


class Wanted(LogisticRegression):
    """Refuses other columns than these."""

    def __init__(self, columns=()):
        super().__init__()
        self.columns = columns

    def fit(self, X, y):
        return super().fit(self._numbers(X), y)

    def predict_proba(self, X):
        return super().predict_proba(self._numbers(X))

    def _numbers(self, X):
        assert list(X.columns) == list(self.columns)
        return X.assign(sex=X["sex"] == "m").to_numpy(dtype=float)
