"""How groups fare, against numbers that pandas computes from the definitions."""


import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import fairgame

RATES = ["base_rate", "selection_rate", "tpr", "fpr", "precision", "error", "ratio", "auc"]


@pytest.fixture(scope="module")
def adult() -> pd.DataFrame:
    """Adult's test rows with a score, a decision and a weight; some people's sex is not known."""
    rows = fairgame.dataset("adult/test")
    train = fairgame.dataset("adult")
    features = ["workclass", "education", "marital_status", "occupation"]
    features = [name for name in features if name in rows] or [c for c in rows if rows[c].dtype == "category"][:4]
    label = next(name for name in rows if set(rows[name].astype(str)) == {"<=50K", ">50K"})
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression(max_iter=300))
    text = lambda frame: frame[features].astype(str)
    model.fit(text(train), train[label].astype(str) == ">50K")
    rows["p"] = model.predict_proba(text(rows))[:, 1]
    rows["decided"] = rows["p"] >= 0.4
    rows["w"] = np.float32(0.5) + np.arange(len(rows), dtype=np.float32) % 7
    rows["sex"] = rows["sex"].where(np.arange(len(rows)) % 50 != 3)
    return rows.rename(columns={label: "income"})


def wanted(rows: pd.DataFrame, decided: np.ndarray, weight: np.ndarray, whole: float) -> dict[str, float]:
    label = (rows["income"].astype(str) == ">50K").to_numpy()
    mean = lambda values, where: np.average(values[where], weights=weight[where]) if where.any() else np.nan
    everyone = np.full(len(rows), True)
    selected = mean(decided, everyone)
    return {
        "base_rate": mean(label.astype(float), everyone),
        "selection_rate": selected,
        "tpr": mean(decided, label),
        "fpr": mean(decided, ~label),
        "precision": np.sum(weight * decided * label) / np.sum(weight * decided),
        "error": mean(np.where(label, 1 - decided, decided), everyone),
        "ratio": selected / whole,
        "auc": roc_auc_score(label, rows["p"], sample_weight=weight) if 0 < label.sum() < len(rows) else np.nan,
    }


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("predictions", ["decided", "p"])
def test_adult(adult: pd.DataFrame, weighted: bool, predictions: str):
    weight = adult["w"].to_numpy(float) if weighted else np.ones(len(adult))
    decided = adult[predictions].to_numpy(float)
    found = fairgame.groups(
        adult, adult[predictions], by=["sex", ["race", "sex"]], label='income == ">50K"', score="p",
        sample_weight=adult["w"] if weighted else None,
    )
    whole = np.average(decided, weights=weight)
    parts = [("all", "", "", np.full(len(adult), True))]
    sex = adult["sex"].astype(object)
    for value in ["Female", "Male", np.nan]:
        parts.append(("sex", value, "", (sex.isna() if value is np.nan else sex == value).to_numpy()))
    for race in sorted(adult["race"].astype(str).unique()):
        for value in ["Female", "Male", np.nan]:
            known = (sex.isna() if value is np.nan else sex == value).to_numpy()
            parts.append(("race, sex", value, race, known & (adult["race"].astype(str) == race).to_numpy()))
    parts = [part for part in parts if part[3].any()]
    assert len(found) == len(parts)
    for (index, row), (by, value, race, where) in zip(found.iterrows(), parts):
        names = dict(zip(found.index.names, index))
        assert names["by"] == by and names["race"] == race
        assert names["sex"] == value or (value is np.nan and pd.isna(names["sex"]))
        assert row["rows"] == where.sum()
        assert row["weight"] == pytest.approx(weight[where].sum())
        one = wanted(adult[where], decided[where], weight[where], whole)
        for rate in RATES:
            assert row[rate] == pytest.approx(one[rate], abs=1e-9, nan_ok=True), (by, value, race, rate)
            if not np.isnan(one[rate]):
                assert row[f"{rate}_low"] <= row[rate] <= row[f"{rate}_high"]
        label = (adult["income"].astype(str) == ">50K").to_numpy()
        assert row["true_positive"] == pytest.approx((weight * decided)[where & label].sum())
        assert row["true_negative"] == pytest.approx((weight * (1 - decided))[where & ~label].sum())
    female = found.loc["sex"].xs("Female", level="sex").iloc[0]
    assert female["four_fifths_of_all"] == "violated" and female["ratio_high"] < 0.8
    assert female["four_fifths"] == "violated" and female["ratio_to_highest_high"] < 0.8
    male = found.loc["sex"].xs("Male", level="sex").iloc[0]
    assert male["four_fifths"] == "met" and male["four_fifths_of_all"] == "met" and male["ratio_to_highest"] == 1
    assert female["ratio_to_highest"] == pytest.approx(female["selection_rate"] / male["selection_rate"])
    assert female["ratio_to_highest_low"] < female["ratio_to_highest"] < female["ratio_to_highest_high"]
    assert found.loc["all"]["four_fifths"].isna().all() and found.loc["all"]["ratio_to_highest"].isna().all()


def test_names_that_the_frame_has():
    with pytest.raises(ValueError, match="`weight`.*rename"):
        fairgame.groups({"weight": ["a", "b"] * 10}, np.arange(20) < 12, by="weight")


def test_a_small_group_may_be_the_highest():
    """0.9 of the highest group of these rows, but a group of ten rows may be higher: nobody knows."""
    group = np.repeat(["a", "b", "few"], [2000, 2000, 10])
    decided = np.concatenate([np.arange(2000) < 1000, np.arange(2000) < 900, np.arange(10) < 4])
    found = fairgame.groups({"group": group}, decided, by="group").loc["group"]
    assert found.loc["b", "ratio_to_highest"] == pytest.approx(0.9)
    assert set(found["four_fifths"]) == {"undecided"}
    assert found.loc["a", "ratio_to_highest"] == 1 and found.loc["a", "ratio_to_highest_low"] < 0.8
    sure = fairgame.groups({"group": group[:4000]}, decided[:4000], by="group").loc["group"]
    assert set(sure["four_fifths"]) == {"met"}


def test_the_four_fifths_rule_compares_with_the_highest_group():
    """Groups selected at 40 % and 55 %: 0.84 of all rows, and 0.73 of the highest."""
    group = np.repeat(["a", "b"], 5000)
    decided = np.concatenate([np.arange(5000) < 2000, np.arange(5000) < 2750])
    row = fairgame.groups({"group": group}, decided, by="group").loc["group"].loc["a"]
    assert row["four_fifths"] == "violated" and row["four_fifths_of_all"] == "met"


def test_the_verdict_of_all_rows_is_that_of_the_constraint(adult: pd.DataFrame):
    found = fairgame.groups(adult, adult["decided"], by="race")
    assert "tpr" not in found and "auc" not in found
    for race, row in found.loc["race"].iterrows():
        rule = f'positive_rate(race == "{race}") >= 0.8 * positive_rate()'
        audited = fairgame.audit(adult, adult["decided"], label='income == ">50K"', constraints=[rule])
        assert row["four_fifths_of_all"] == audited.verdict
        inside = row["ratio_low"] < 0.8 < row["ratio_high"]
        assert inside == (audited.verdict == "undecided")


def test_intervals_of_ratios_cover():
    """Of 300 draws, the interval at 90 % has the population's ratio in about nine of ten."""
    random, hits = np.random.default_rng(4), 0
    for _ in range(300):
        group = random.random(400) < 0.3
        decided = random.random(400) < np.where(group, 0.3, 0.5)
        table = {"group": np.where(group, "a", "b")}
        row = fairgame.groups(table, decided, by="group", confidence=0.9).loc["group"].loc["a"]
        hits += row["ratio_low"] <= 0.3 / (0.3 * 0.3 + 0.7 * 0.5) <= row["ratio_high"]
    assert 0.87 <= hits / 300 <= 0.97, hits


def test_units_make_intervals_wider(adult: pd.DataFrame):
    twice = pd.concat([adult[:2000], adult[:2000]], ignore_index=True)
    person = np.arange(4000) % 2000
    apart = fairgame.groups(adult[:2000], adult["decided"][:2000], by="sex", label='income == ">50K"')
    alone = fairgame.groups(twice, twice["decided"], by="sex", label='income == ">50K"')
    units = fairgame.groups(twice, twice["decided"], by="sex", label='income == ">50K"', unit=person)
    assert units.attrs["units"] == 2000
    for rate in ["tpr", "selection_rate", "ratio"]:
        width = lambda found: (found[f"{rate}_high"] - found[f"{rate}_low"]).loc["sex"].to_numpy()
        assert np.allclose(width(units), width(apart), atol=1e-6)
        assert (width(alone) < width(units)).all()


def test_mistakes(adult: pd.DataFrame):
    some = adult[:100]
    for arguments, message in [
        ({"by": "sexx"}, "did you mean `sex`"),
        ({"by": []}, "at least one column"),
        ({"by": [["sex", "sex"]]}, "twice"),
        ({"by": 3}, "name of a column"),
        ({"by": "sex", "score": "race"}, "scores are numbers"),
        ({"by": "sex", "score": "q"}, "no column `q`"),
        ({"by": "sex", "label": "income = 3"}, "=="),
    ]:
        with pytest.raises(ValueError, match=message):
            fairgame.groups(some, some["decided"], **arguments)
    with pytest.raises(ValueError, match="1000"):
        fairgame.groups({"id": np.arange(2000)}, np.ones(2000), by="id")
