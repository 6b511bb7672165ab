"""Exported graphs, run by onnxruntime: the scores and probabilities of `predict`."""

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest

import fairgame

ROWS = 10_000
RULE = "positive_rate(each sex) >= 0.8 * positive_rate()"
PRACTICAL = {"practical": {"turns": 1500}}

POLICIES = {
    "trees": {},
    "trees, mean": {"selection": {"shrink": {"deterministic": True}}},
    "trees, groups modelled": {"encoder": {"ignore": ["sex"]}},
    "linear, plug-in": {"model": "linear"},
    "mlp, plug-in": {"model": {"mlp": {"units": 10}}},
    "linear, practical": {"model": "linear", "algorithm": PRACTICAL},
    "mlp, practical": {"model": {"mlp": {"units": 7}}, "algorithm": PRACTICAL},
    "buckets": {
        "model": "linear",
        "algorithm": PRACTICAL,
        "encoder": {
            "columns": {
                "age": [{"buckets": {"cuts": {"quantiles": 4}}}],
                "hours_per_week": [{"buckets": {"cuts": {"points": [20, 39, 40]}, "steps": "cumulative"}}],
                "education_num": ["values"],
            }
        },
    },
    "buckets, trees": {
        "encoder": {
            "columns": {
                "age": [{"buckets": {"cuts": {"quantiles": 4}}}, "standardise"],
                "hours_per_week": [{"buckets": {"cuts": {"points": [20, 39, 40]}, "steps": "cumulative"}}],
                "education_num": ["values"],
            }
        },
    },
}


@pytest.fixture(scope="module")
def adult() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Training rows with values that are missing, and test rows with more of them and with categories never seen."""
    train, test = fairgame.dataset("adult"), fairgame.dataset("adult/test")[:ROWS]
    random = np.random.default_rng(8)
    out = []
    for rows, share in ((train, 0.02), (test, 0.05)):
        rows = rows.copy()
        rows["young"] = pd.array(rows["age"] < 30, dtype="boolean")
        for name in ("age", "occupation", "young"):
            rows.loc[random.random(len(rows)) < share, name] = pd.NA if name == "young" else np.nan
        out.append(rows)
    train, test = out
    for name in ("native_country", "sex"):
        text = test[name].astype(object)
        test[name] = text.mask(random.random(ROWS) < 0.03, "never seen")
    # In training nothing of it is missing.
    test.loc[random.random(ROWS) < 0.03, "capital_gain"] = np.nan
    test["education"] = test["education"].astype(object).mask(random.random(ROWS) < 0.03, None)
    return train, test


def inputs(session: onnxruntime.InferenceSession, rows: pd.DataFrame) -> dict[str, np.ndarray]:
    """The columns as the graph wants them."""
    given = {}
    for one in session.get_inputs():
        column = rows[one.name]
        if one.type == "tensor(string)":
            values = column.astype(object).where(column.notna(), "").astype(str).to_numpy(dtype=object)
        else:
            values = column.astype("Float64").to_numpy(dtype=np.float64, na_value=np.nan)
        given[one.name] = values.reshape(-1, 1)
    return given


def check(trained, test: pd.DataFrame, probability: np.ndarray, score: np.ndarray) -> np.ndarray:
    """Scores and probabilities are those of the classifier. The rows whose probabilities differ."""
    assert np.abs(score[:, 0] - trained.decision_function(test)).max() < 1e-5
    # A row that is within rounding of a threshold may be decided otherwise.
    differs = np.abs(probability[:, 0] - trained.predict_proba(test)[:, 1]) > 1e-9
    margins = np.abs(np.array(trained._classifier.scores(trained._features(test)))).min(axis=0)
    assert (margins[differs] < 1e-5).all()
    assert differs.sum() <= 20
    return differs


@pytest.mark.parametrize("name", POLICIES)
def test_adult(name: str, adult: tuple[pd.DataFrame, pd.DataFrame], tmp_path: Path):
    train, test = adult
    policy = {"label": 'income == ">50K"', "constraints": [RULE], **POLICIES[name]}
    trained = fairgame.train(policy, train.sample(6000, random_state=1))
    path = tmp_path / "model.onnx"
    trained.export_onnx(path)
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    assert {one.domain: one.version for one in model.opset_import} == {"": 15, "ai.onnx.ml": 3}
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    assert {one.name for one in session.get_inputs()} == set(trained.features_in_use_)
    probability, score = session.run(["probability", "score"], inputs(session, test))
    assert probability.shape == score.shape == (ROWS, 1)
    differs = check(trained, test, probability, score)
    print(f"{name}: {differs.sum()} of {ROWS} rows have another probability; largest difference of scores "
          f"{np.abs(score[:, 0] - trained.decision_function(test)).max():.1e}, {len(model.graph.node)} operators, "
          f"{path.stat().st_size} bytes")
    # One row alone.
    one = session.run(["probability"], inputs(session, test[:1]))[0]
    assert one.shape == (1, 1) and one[0, 0] == probability[0, 0]


def test_scores_of_another_model(adult: tuple[pd.DataFrame, pd.DataFrame], tmp_path: Path):
    train, test = adult
    random = np.random.default_rng(2)
    train, test = (rows.assign(p=random.beta(1, 3, len(rows))) for rows in (train[:4000], test))
    policy = {"label": 'income == ">50K"', "constraints": [RULE], "model": {"scores": {"columns": ["p"]}}}
    trained = fairgame.train(policy, train)
    trained.export_onnx(tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx", providers=["CPUExecutionProvider"])
    probability, score = session.run(["probability", "score"], inputs(session, test))
    check(trained, test, probability, score)


# Groups that are told by each kind of condition, of which every one is a feature.
CONDITIONS = [
    "age < 30",
    "hours_per_week <= 38",
    "age >= 50",
    'occupation != "Sales"',
    'not (race == "White")',
    "not young",
    'race == "Black" or workclass == "Private"',
    'occupation in ["Sales", "Craft-repair"] and sex == "Male"',
]


@pytest.mark.parametrize("one", [*CONDITIONS, "all"])
def test_conditions(one: str, adult: tuple[pd.DataFrame, pd.DataFrame], tmp_path: Path):
    """Rows that have missing values in the columns of the conditions are in the groups in which `predict` has them."""
    train, test = adult
    conditions = CONDITIONS if one == "all" else [one]
    rules = [f"positive_rate({one}) >= 0.4 * positive_rate()" for one in conditions]
    policy = {"label": 'income == ">50K"', "constraints": rules, "model": "linear"}
    train = train.sample(4000, random_state=2)
    trained = fairgame.train(policy, train)
    trained.export_onnx(tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx", providers=["CPUExecutionProvider"])
    probability, score = session.run(["probability", "score"], inputs(session, test))
    check(trained, test, probability, score)


MARKERS = ["?", "NA", "n/a", "null", "NaN", "", "unknown", "-"]


def test_markers_of_missing_values(adult: tuple[pd.DataFrame, pd.DataFrame], tmp_path: Path):
    """Raw text goes into the graph as it is: markers mean missing, as for `predict`, also in conditions."""
    train, test = (rows.copy() for rows in adult)
    random = np.random.default_rng(5)
    for rows in (train, test):
        rows["pay"] = np.where(random.random(len(rows)) < 0.1, np.nan, rows["age"] + random.normal(size=len(rows)))
    texts = ["occupation", "workclass", "native_country", "education", "sex"]
    raw = {}
    for name, rows in (("train", train), ("test", test)):
        raw[name] = rows.copy()
        for column in texts:
            text = rows[column].astype(object)
            raw[name][column] = text.where(text.notna(), random.choice(MARKERS, len(rows)))
        raw[name]["pay"] = rows["pay"].fillna(-999)
    raw["train"].to_csv(tmp_path / "train.csv", index=False)
    rules = [f"positive_rate({one}) >= 0.4 * positive_rate()" for one in ('occupation != "Sales"', 'sex == "Female"')]
    # Both have a place of their own for what is missing, and one for what was never seen.
    for model in ("trees", "linear"):
        policy = {"label": 'income == ">50K"', "constraints": rules, "model": model}
        policy["missing"] = {"also": ["unknown", "-", "-999"]}
        trained = fairgame.train(policy, tmp_path / "train.csv")
        # A file has the markers, as in training.
        raw["test"].to_csv(tmp_path / "test.csv", index=False)
        assert (trained.decision_function(tmp_path / "test.csv") == trained.decision_function(test)).all()
        trained.export_onnx(tmp_path / "model.onnx")
        session = onnxruntime.InferenceSession(tmp_path / "model.onnx", providers=["CPUExecutionProvider"])
        given = inputs(session, raw["test"])
        assert set(MARKERS) <= set(given["occupation"].ravel()) and (given["pay"] == -999).any()
        probability, score = session.run(["probability", "score"], given)
        check(trained, test, probability, score)


def test_a_marker_that_is_a_category(tmp_path: Path):
    """Frames have no markers: `NA` is a region, also in conditions."""
    random = np.random.default_rng(3)
    region = random.choice(["EU", "NA", "AP"], 4000)
    x = random.normal(size=4000)
    frame = pd.DataFrame({"region": region, "x": x, "hired": x + (region == "EU") + random.normal(size=4000) > 0.5})
    rule = 'positive_rate(region != "EU") >= 0.9 * positive_rate()'
    trained = fairgame.train({"label": "hired", "constraints": [rule], "model": "linear"}, frame)
    trained.export_onnx(tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx", providers=["CPUExecutionProvider"])
    probability, score = session.run(["probability", "score"], inputs(session, frame))
    check(trained, frame, probability, score)


def test_what_cannot_be_exported(adult: tuple[pd.DataFrame, pd.DataFrame], tmp_path: Path):
    train = adult[0][["age", "hours_per_week", "sex", "income"]][:2000]
    policy = {"label": 'income == ">50K"', "constraints": [RULE], "model": "lattice", "algorithm": PRACTICAL}
    trained = fairgame.train(policy, train)
    with pytest.raises(ValueError, match="lattice"):
        trained.export_onnx(tmp_path / "model.onnx")
    trained = fairgame.train({**policy, "model": "linear"}, train.rename(columns={"age": "score"}))
    with pytest.raises(ValueError, match="named like an output"):
        trained.export_onnx(tmp_path / "model.onnx")
