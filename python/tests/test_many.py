"""Plenty of rows: they are not copied, and come to the same however they are given."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.linear_model import LogisticRegression

import fairgame
from fairgame import FairGameClassifier

ROWS = 1_000_100
RULE = "positive_rate(each group) >= 0.9 * positive_rate()"


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(ROWS, 3))
    X[::7, 1] = np.nan
    X[::11, 2] = -0.0
    group = np.where(rng.random(ROWS) < 0.3, "a", "b")
    y = X[:, 0] + 0.5 * (group == "a") + rng.normal(size=ROWS) > 0.5
    return X, y, group


def linear(**more):
    return FairGameClassifier([RULE], model="linear", **more)


def bits(model):
    """What decides: the rules, their weights and the model, without the labels' names."""
    return model.mixture_, model.iterates_, [one["value"] for one in model.enforcement_]


def test_the_same_from_an_array_a_frame_arrow_and_files(people, tmp_path):
    X, y, group = people
    first = linear().fit(X, y, sensitive_features={"group": group})
    assert first.evaluations_["val"].constraints[0]["value"] <= 1e-6
    wanted = bits(first)
    frame = pd.DataFrame(X, columns=["x0", "x1", "x2"])
    assert bits(linear(memory="20MB", n_jobs=2).fit(frame, y, sensitive_features={"group": group})) == wanted
    arrow = pa.table({"x0": X[:, 0], "x1": X[:, 1], "x2": X[:, 2]})
    assert bits(linear().fit(arrow, y, sensitive_features={"group": group})) == wanted
    # Not in row order in memory: a column of a transposed array is a run.
    assert bits(linear(memory=30_000_000).fit(np.asfortranarray(X), y, sensitive_features={"group": group})) == wanted
    table = arrow.append_column("label", pa.array(y)).append_column("group", pa.array(group))
    pq.write_table(table, tmp_path / "people.parquet")
    policy = {
        "label": "label",
        "constraints": [RULE],
        "model": "linear",
        "checks": "tell",
        "encoder": {"ignore": ["group"]},
    }
    assert bits(fairgame.train(policy, tmp_path / "people.parquet", memory="20MB")) == wanted


def test_what_is_wrong_with_plenty_of_rows_is_told(people):
    X, y, group = people
    with pytest.raises(ValueError, match="memory"):
        linear(memory=-5).fit(X, y)
    with pytest.raises(ValueError, match="number of bytes"):
        linear(memory="much").fit(X, y)
    with pytest.raises(ValueError, match="999"):
        linear().fit(pd.DataFrame(X), y, sensitive_features={"group": group[:999]})
    infinite = pd.DataFrame(X)
    infinite.iloc[5, 1] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        linear().fit(infinite, y)
    with pytest.raises(ValueError, match="memory.*number of bytes"):
        FairGameClassifier([RULE], estimator=LogisticRegression(), memory="much").fit(X[:500, :1], y[:500])
    # Rows are counted from the first of all, and not from that of a run.
    odd = X[:, 0].copy()
    odd[700_000] = np.inf
    with pytest.raises(ValueError, match="row 700001"):
        fairgame.train({"label": "y"}, pa.table({"x": odd, "y": y}))
    twice = pa.Table.from_arrays([pa.array(X[:, 0]), pa.array(y)], names=["x", "x"])
    with pytest.raises(ValueError, match="both named `x`"):
        fairgame.train({"label": "y"}, twice)
