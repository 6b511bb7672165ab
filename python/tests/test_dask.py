"""Dask: partitions are worked on where they are, and come to what all rows come to in one place, to the bit."""

import warnings

import numpy as np
import pandas as pd
import pytest

import fairgame
from fairgame import FairGameClassifier

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

import fairgame.dask  # noqa: E402

RULE = "tpr(each sex) >= tpr() - 0.1"


def told(found):
    """All that an evaluation says of rows, but for warnings: that training rows are among them is not looked for."""
    return {name: value for name, value in vars(found).items() if name != "warnings"}


def people(rows, seed):
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], size=rows, p=[0.4, 0.6])
    skill = rng.normal(size=rows) + 0.5 * (sex == "m")
    job = rng.choice(["clerk", "nurse", "pilot"], size=rows)
    hired = np.where(skill + rng.normal(size=rows) > 0.4, "yes", "no")
    weight = rng.integers(1, 5, size=rows) / 2
    return pd.DataFrame({"sex": sex, "skill": skill, "job": job, "hired": hired, "weight": weight, "id": np.arange(rows) // 2})


@pytest.fixture(scope="module")
def model():
    data = people(3000, 1)
    return FairGameClassifier([RULE]).fit(data[["sex", "skill", "job"]], data["hired"], sensitive_features="sex")


@pytest.fixture(scope="module")
def client():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            yield client


FRESH = people(4000, 2)


@pytest.mark.parametrize("parts", [1, 3, 7])
def test_evaluations_are_those_of_all_rows(model, client, parts):
    ddf = dd.from_pandas(FRESH, npartitions=parts)
    for more in ({}, {"unit": "id"}, {"sample_weight": "weight", "confidence": 0.9}):
        own = {key: FRESH[value] if key == "sample_weight" else value for key, value in more.items()}
        assert told(fairgame.dask.evaluate(model, ddf, **more)) == told(fairgame.evaluate(model, FRESH, **own))


@pytest.mark.parametrize("parts", [1, 5])
def test_audits_are_those_of_all_rows(client, parts):
    scored = FRESH.assign(p=np.clip(FRESH["skill"] / 4 + 0.5, 0, 1), said=np.where(FRESH["skill"] > 0.5, "yes", "no"))
    ddf = dd.from_pandas(scored, npartitions=parts)
    asked = {"label": 'hired == "yes"', "constraints": [RULE, "positive_rate(each [sex, job]) >= 0.3"]}
    for column in ("p", "said"):
        for more in ({}, {"unit": "id", "sample_weight": "weight"}):
            own = {key: scored[value] for key, value in more.items()}
            wanted = fairgame.audit(scored, scored[column], **asked, **own)
            assert told(fairgame.dask.audit(ddf, column, **asked, **more)) == told(wanted)


def test_decisions_are_lazy_and_the_same(model, client):
    found = fairgame.dask.predict(model, dd.from_pandas(FRESH, npartitions=4))
    assert hasattr(found, "compute") and list(found.columns) == ["decision", "probability", "score"]
    found = found.compute()
    features = FRESH[["sex", "skill", "job"]]
    assert (found["decision"].to_numpy() == model.predict(features)).all()
    assert np.array_equal(found["probability"], model.predict_proba(features)[:, 1])
    assert np.array_equal(found["score"], model.decision_function(features))
    assert found.index.equals(FRESH.index)
    drawn = fairgame.dask.predict(model, dd.from_pandas(FRESH, npartitions=3), keys="id").compute()
    assert (drawn["decision"].to_numpy() == model.predict(features, keys=FRESH["id"])).all()


def test_partitions_without_rows_and_a_file(model, client, tmp_path):
    ddf = dd.from_pandas(FRESH, npartitions=4)
    some = ddf[ddf["skill"] > 1.5]
    empty = some[some["skill"] > 99.0]
    joined = dd.concat([empty, some])
    wanted = fairgame.evaluate(model, FRESH[FRESH["skill"] > 1.5])
    model.save(tmp_path / "model.safetensors")
    assert told(fairgame.dask.evaluate(tmp_path / "model.safetensors", joined)) == told(wanted)
    assert len(fairgame.dask.predict(model, empty).compute()) == 0


def test_units_that_are_missing_are_told(model, client):
    some = FRESH.assign(id=FRESH["id"].astype(float).where(FRESH["id"] > 3))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        fairgame.dask.evaluate(model, dd.from_pandas(some, npartitions=2), unit="id")
    assert any("without a unit" in str(one.message) for one in said)


def test_what_is_refused(model, client):
    ddf = dd.from_pandas(FRESH, npartitions=2)
    with pytest.raises(ValueError, match="data frame of Dask"):
        fairgame.dask.evaluate(model, FRESH)
    with pytest.raises(ValueError, match="no column 'units'"):
        fairgame.dask.evaluate(model, ddf, unit="units")
    with pytest.raises(ValueError, match="no column 'skill'"):
        fairgame.dask.predict(model, ddf.drop(columns="skill"))
    with pytest.raises(ValueError, match="quantile"):
        fairgame.dask.audit(
            ddf.assign(p=0.5), "p", label='hired == "yes"', constraints=["tpr(skill > quantile(skill, 0.5)) >= 0.1"]
        )
    with pytest.raises(ValueError, match="install one version on all"):
        fairgame._partitions.check_version("0.0.1")
    sums = fairgame._fairgame.Sums.of_classifier(model._classifier)
    for damaged in (b"", b"{}", b'{"version":1,"kinds":[],"sums":[],"units":null,"rows":3}'):
        with pytest.raises(ValueError):
            sums.merge(damaged)
