"""A layout says which columns a classifier reads, whether `fit` or a model file made it."""

import copy
import dataclasses
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import fairgame
from fairgame import FairGameClassifier
from fairgame._layout import Layout

from conftest import FEW

NAMES = ["label", "weight", "x", "z"]


def test_names_do_not_clash(people):
    X, y, group = people
    layout, rows = Layout.fitted(pd.DataFrame(X, columns=NAMES), y, {"label_": group})
    assert (layout.columns, layout.groups, layout.named) == (tuple(NAMES), ("label_",), True)
    assert (layout.label_column, layout.label, layout.weight_column) == ("label__", "label__", "weight_")
    assert [name for name, _ in rows.columns] == [*NAMES, "label_", "label__"]
    weighted = layout.weighted(rows, np.ones(len(y)))
    assert [name for name, _ in weighted.columns][-1] == "weight_"
    with pytest.raises(dataclasses.FrozenInstanceError):
        layout.named = False


def test_columns_of_an_array_are_found_by_position(people):
    X, y, _ = people
    layout, rows = Layout.fitted(X, np.where(y, "yes", "no"), None)
    assert layout.label == 'label == "yes"' and layout.classes.tolist() == ["no", "yes"]
    again = layout.rows(pd.DataFrame(X, columns=NAMES), np.where(y, "yes", "no"), None)
    assert again.columns == rows.columns


def test_a_file_finds_columns_by_name():
    described = {"label": "hired == true", "label_columns": ["hired"], "labels": None}
    assert Layout.of_file(described).classes is None
    assert Layout.of_file({**described, "labels": ["no", "yes"]}).classes.tolist() == ["no", "yes"]
    assert Layout.of_file(described, [0, 1]).classes.tolist() == [0, 1]
    with pytest.raises(ValueError, match="the second of classes"):
        Layout.of_file(described, [True, False])
    rows = Layout.of_file(described).rows({"b": [1.0, 2.0], "a": [3.0, 4.0]}, [True, False], None)
    assert [name for name, _ in rows.columns] == ["b", "a", "hired"]
    with pytest.raises(ValueError, match="use fairgame.evaluate"):
        Layout.of_file({**described, "label_columns": ["hired", "paid"]}).rows({"a": [1.0]}, [True], None)


def test_labels_that_a_file_does_not_name(people):
    X, y, _ = people
    table = pd.DataFrame(X, columns=NAMES).assign(hired=y)
    trained = fairgame.train({"label": "hired", "constraints": ["recall() >= 0.8"], "algorithm": FEW}, table)
    assert trained.classes_.tolist() == [False, True] and not hasattr(trained, "n_features_in_")
    wanted = trained.decision_function(table[["z", *NAMES[:3]]])
    for other in (copy.deepcopy(trained), pickle.loads(pickle.dumps(trained))):
        assert np.array_equal(other.decision_function(table), wanted)
        assert other.evaluate(table, y).constraints == trained.evaluate(table, y).constraints


def test_each_fit_starts_anew(people, tmp_path):
    X, y, _ = people
    FairGameClassifier(algorithm=FEW).fit(X, y).save(tmp_path / "m.safetensors")
    model = fairgame.load(tmp_path / "m.safetensors").fit(pd.DataFrame(X[:, :2], columns=["a", "b"]), y)
    assert model.n_features_in_ == 2 and model.feature_names_in_.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(pd.DataFrame(X[:, :2], columns=["a", "c"]))
    model.fit({"a": X[:, 0]}, np.where(y, "yes", "no"))
    assert model.n_features_in_ == 1 and not hasattr(model, "feature_names_in_")
    assert set(model.predict({"a": X[:, 0]})) == {"no", "yes"}


def test_a_clone_of_a_model_with_validation_rows_can_be_fitted(people):
    """Validation rows are not kept with a model, so a clone takes its datasets from the recipe."""
    X, y, _ = people
    table = {"skill": X[:, 0], "hired": y}
    policy = {"label": "hired", "constraints": ["recall() >= 0.8"], "algorithm": FEW}
    again = clone(fairgame.train(policy, table, validation=table))
    assert again.datasets is None
    assert again.fit(X[:, :1], y).constraints_ == ["recall() >= 0.8"]
