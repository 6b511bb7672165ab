"""Trainings on the workers of Dask and Ray: the same file to the bit as in one place, whoever is lost."""

import hashlib
import os
import random
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pandas as pd
import pytest

import fairgame
from fairgame import _cluster

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

ROWS = 1_020_000  # More than are held as a table.
RULE = "positive_rate(each sex) >= 0.8 * positive_rate()"
TREES = {"label": 'hired == "yes"', "constraints": [RULE], "model": {"trees": {"trees": 12, "leaves": 6}}}
LINEAR = {"label": 'hired == "yes"', "constraints": [RULE], "model": "linear"}
STEPS = {**LINEAR, "algorithm": {"practical": {"turns": 400}}}
POLICIES = {"trees": TREES, "linear": LINEAR, "steps": STEPS}


def people(rows, seed):
    rng = np.random.default_rng(seed)
    sex = np.array(["f", "m"])[(rng.random(rows) < 0.6).astype(int)]
    skill = np.round(rng.normal(size=rows) + 0.5 * (sex == "m"), 3)
    job = np.array(["clerk", "nurse", "pilot"])[rng.integers(0, 3, rows)]
    hired = np.where(skill + rng.normal(size=rows) > 0.4, "yes", "no")
    return pd.DataFrame({"sex": sex, "skill": skill, "more": rng.random(rows), "job": job, "hired": hired})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Rows in three files of different sizes, of which the order of names is that of the rows."""
    path = tmp_path_factory.mktemp("rows")
    data = people(ROWS, 1)
    for name, (start, end) in {"a": (0, 50_000), "b": (50_000, 700_000), "c": (700_000, ROWS)}.items():
        pq.write_table(pa.Table.from_pandas(data[start:end], preserve_index=False), path / f"{name}.parquet")
    return path


@pytest.fixture(scope="module")
def wanted(folder, tmp_path_factory):
    """The hash of the file of each policy's training in one place."""
    return {name: saved(fairgame.train(policy, folder), tmp_path_factory) for name, policy in POLICIES.items()}


def saved(model, places):
    path = places.mktemp("model") / "model.safetensors"
    model.save(path)
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    pytest.importorskip("dask.dataframe")
    how = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None, "memory_limit": 0}
    with distributed.LocalCluster(**how) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def ray():
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False, configure_logging=False)
    yield ray
    ray.shutdown()


@pytest.mark.parametrize("name", POLICIES)
def test_dask_trains_the_same_file(folder, wanted, client, tmp_path_factory, name):
    import fairgame.dask

    model = fairgame.dask.train(POLICIES[name], folder, client)
    assert saved(model, tmp_path_factory) == wanted[name]
    counts = model.cluster_
    assert counts["shards"] == 2 and counts["lost"] == 0 and counts["questions"] > 5
    assert counts["bytes_answered"] > counts["bytes_asked"] > 0


@pytest.mark.parametrize("workers", [1, 4])
def test_any_number_of_workers(folder, wanted, tmp_path_factory, workers):
    distributed = pytest.importorskip("distributed")
    import fairgame.dask

    how = {"n_workers": workers, "threads_per_worker": 1, "processes": True, "dashboard_address": None, "memory_limit": 0}
    with distributed.LocalCluster(**how) as cluster, distributed.Client(cluster) as client:
        # Three files: with four workers, one has no rows.
        model = fairgame.dask.train(TREES, folder, client)
        assert saved(model, tmp_path_factory) == wanted["trees"]


def test_a_data_frame_cut_differently(folder, client, tmp_path_factory):
    dd = pytest.importorskip("dask.dataframe")
    import fairgame.dask

    whole = pd.read_parquet(folder)
    found = [
        saved(fairgame.dask.train(TREES, ddf, client), tmp_path_factory)
        for ddf in (dd.from_pandas(whole, npartitions=5), dd.read_parquet(folder), dd.from_pandas(whole, npartitions=1))
    ]
    assert found[0] == found[1] == found[2]
    one = fairgame.train(TREES, whole)
    again = fairgame.dask.train(TREES, dd.from_pandas(whole, npartitions=3), client)
    rows = whole[:5000]
    assert np.array_equal(one.predict_proba(rows), again.predict_proba(rows))
    assert one.mixture_ == again.mixture_


def kill_at(questions, kill, monkeypatch):
    """Kills at some of the questions, a moment after they were asked."""
    asked = []
    plain = _cluster.Engine._answers

    def answers(engine, question):
        asked.append(question)
        if len(asked) in questions:
            threading.Timer(random.random() * 0.02, kill).start()
            time.sleep(random.random() * 0.02)
        return plain(engine, question)

    monkeypatch.setattr(_cluster.Engine, "_answers", answers)


def test_dask_workers_are_killed(folder, wanted, client, tmp_path_factory, monkeypatch):
    import fairgame.dask

    lost = 0
    for seed in range(5):
        random.seed(seed)
        with monkeypatch.context() as patched:
            # Two of ten moments: one in the passes over the rows, one among the trees.
            moments = {random.randint(2, 9), random.randint(10, 140)}

            def kill():
                pids = client.run(os.getpid)
                os.kill(random.choice(list(pids.values())), signal.SIGKILL)

            kill_at(moments, kill, patched)
            model = fairgame.dask.train(TREES, folder, client)
        assert saved(model, tmp_path_factory) == wanted["trees"], seed
        lost += model.cluster_["lost"]
    assert lost >= 5, "hardly any kill was noticed"


def test_a_shard_that_is_lost_again_and_again(folder, client, monkeypatch):
    import fairgame.dask

    def gone(engine, holder, asked):
        raise _cluster.Lost

    monkeypatch.setattr(fairgame.dask.DaskEngine, "wait", gone)
    with pytest.raises(RuntimeError, match="a.parquet.* was lost 6 times in a row"):
        fairgame.dask.train(TREES, folder, client)


def test_checkpoints_go_on_with_other_workers(folder, wanted, client, tmp_path, tmp_path_factory):
    distributed = pytest.importorskip("distributed")
    import fairgame.dask

    fairgame.dask.train(STEPS, folder, client, checkpoint=tmp_path)
    with pytest.raises(ValueError, match="checkpoint is there already"):
        fairgame.dask.train(STEPS, folder, client, checkpoint=tmp_path)
    how = {"n_workers": 1, "threads_per_worker": 1, "processes": True, "dashboard_address": None, "memory_limit": 0}
    with distributed.LocalCluster(**how) as cluster, distributed.Client(cluster) as other:
        model = fairgame.dask.train(STEPS, folder, other, checkpoint=tmp_path, resume=True)
    assert saved(model, tmp_path_factory) == wanted["steps"]
    with pytest.raises(ValueError, match="no checkpoint to go on from"):
        fairgame.dask.train(STEPS, folder, client, resume=True)


def test_a_client_that_goes_away_leaves_nothing(folder, client):
    """A process that trains is killed: its shards are gone from the workers, which train for the next one."""

    def shards(dask_worker):
        return len(dask_worker.state.actors)

    training = f"""
import fairgame.dask
fairgame.dask.train({TREES!r}, {str(folder)!r}, {client.scheduler.address!r})
"""
    process = subprocess.Popen([sys.executable, "-c", training])
    try:
        until(lambda: sum(client.run(shards).values()) == 2)
    finally:
        process.kill()
        process.wait()
    until(lambda: sum(client.run(shards).values()) == 0)


def until(true, seconds=60):
    """Waits for what has to become true."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not become true"
        time.sleep(0.05)


def test_what_does_not_fit_is_refused_before_training(folder, client, tmp_path, monkeypatch):
    import fairgame.dask

    data = people(2000, 2)
    for name, frame in {"a": data, "b": data.drop(columns="job")}.items():
        frame.to_parquet(tmp_path / f"{name}.parquet")
    with pytest.raises(ValueError, match=r"b\.parquet: there is no column `job`, and .*a\.parquet has one"):
        fairgame.dask.train(TREES, tmp_path, client)
    data.assign(more=data["more"].astype(str)).to_parquet(tmp_path / "b.parquet")
    with pytest.raises(ValueError, match=r"b\.parquet: column `more` is a category, and in .* a number"):
        fairgame.dask.train(TREES, tmp_path, client)
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises((OSError, ValueError), match="the folder has no data files"):
        fairgame.dask.train(TREES, empty, client)
    with pytest.raises(OSError, match="no such file|there is no file"):
        fairgame.dask.train(TREES, tmp_path / "nothing.parquet", client)
    with pytest.raises(FileNotFoundError, match="there is no file"):
        fairgame.dask.train(TREES, str(tmp_path / "x*.parquet"), client)
    with pytest.raises(ValueError, match="client of Dask or the address"):
        fairgame.dask.train(TREES, folder, 7)
    with pytest.raises(ValueError, match="data frame of Dask is needed"):
        fairgame.dask.train(TREES, data, client)
    monkeypatch.setattr(fairgame.dask._fairgame, "__version__", "0.0.1")
    with pytest.raises(ValueError, match="and the client has 0.0.1: install one version on all"):
        fairgame.dask.train(TREES, folder, client)


def test_a_worker_without_the_package(folder):
    distributed = pytest.importorskip("distributed")
    import fairgame.dask

    def hide():
        import sys

        class Hidden:
            def find_spec(self, name, path=None, target=None):
                if name.split(".")[0] == "fairgame":
                    raise ModuleNotFoundError("No module named 'fairgame'", name="fairgame")

        for name in [name for name in sys.modules if name.split(".")[0] == "fairgame"]:
            del sys.modules[name]
        sys.meta_path.insert(0, Hidden())

    how = {"n_workers": 1, "threads_per_worker": 1, "processes": True, "dashboard_address": None, "memory_limit": 0}
    with distributed.LocalCluster(**how) as cluster, distributed.Client(cluster) as client:
        client.run(hide)
        with pytest.raises(RuntimeError, match="has no package fairgame: install fairgame"):
            fairgame.dask.train(TREES, folder, client)


def test_few_rows_and_what_is_wrong_with_a_value(client, tmp_path):
    import fairgame.dask

    data = people(3000, 3)
    data[:1000].to_parquet(tmp_path / "a.parquet")
    data[1000:].to_parquet(tmp_path / "b.parquet")
    one, all_ = fairgame.train(TREES, tmp_path), fairgame.dask.train(TREES, tmp_path, client)
    assert np.array_equal(one.predict_proba(data), all_.predict_proba(data))
    (tmp_path / "b.parquet").write_bytes((tmp_path / "b.parquet").read_bytes()[:-9])
    with pytest.raises(ValueError, match=r"b\.parquet.*Parquet"):
        fairgame.dask.train(TREES, tmp_path, client)


@pytest.mark.parametrize("actors", [1, 2, 4])
def test_ray_trains_the_same_file(folder, wanted, ray, tmp_path_factory, actors):
    import fairgame.ray

    names = POLICIES if actors == 2 else ["trees"]
    for name in names:
        assert saved(fairgame.ray.train(POLICIES[name], folder, actors=actors), tmp_path_factory) == wanted[name]


def test_the_estimator_takes_frames_of_a_cluster(folder, client, ray):
    dd = pytest.importorskip("dask.dataframe")
    import pickle

    import ray.data
    from sklearn.base import clone

    whole = pd.read_parquet(folder).assign(w=1.5, id=np.arange(ROWS) // 2)
    X = whole.drop(columns="hired")
    asked = {"model": {"trees": {"trees": 8, "leaves": 5}}, "random_state": 3}
    more = {"sensitive_features": "sex", "groups": "id"}
    one = fairgame.FairGameClassifier([RULE], **asked)
    one.fit(X.drop(columns="w"), whole["hired"], sample_weight=whole["w"], **more)
    away = clone(fairgame.FairGameClassifier([RULE], client=client, **asked))
    assert away.client is client
    ddf = dd.from_pandas(whole, npartitions=3)
    away.fit(ddf, "hired", sample_weight="w", **more)
    rows = X.drop(columns="w")[:4000]
    assert (away.predict(rows) == one.predict(rows)).all()
    assert np.array_equal(away.predict_proba(rows), one.predict_proba(rows))
    assert away.mixture_ == one.mixture_ and list(away.classes_) == ["no", "yes"]
    assert list(away.feature_names_in_) == [*rows.columns]
    beside = clone(away).fit(ddf.drop(columns="hired"), ddf["hired"], sample_weight="w", **more)
    assert np.array_equal(beside.predict_proba(rows), one.predict_proba(rows))
    assert pickle.loads(pickle.dumps(away)).client is None
    rayed = fairgame.FairGameClassifier([RULE], **asked)
    rayed.fit(ray.data.from_pandas([whole[:400_000], whole[400_000:]]), "hired", sample_weight="w", **more)
    assert np.array_equal(rayed.predict_proba(rows), one.predict_proba(rows))

    for wrong, message in (
        ({"class_weight": "balanced"}, "class_weight is for rows in one place"),
        ({"constraints": ["tpr(each town) >= 0.1"]}, "no column `town`"),
    ):
        with pytest.raises(ValueError, match=message):
            clone(away).set_params(**wrong).fit(ddf, "hired")
    with pytest.raises(ValueError, match="sample_weight names columns"):
        clone(away).fit(ddf, "hired", sample_weight=whole["w"])
    with pytest.raises(ValueError, match="no column 'y'"):
        clone(away).fit(ddf, "y")
    with pytest.raises(ValueError, match="y has 3 labels"):
        clone(away).fit(ddf, "job")


def test_ray_datasets(folder, ray, tmp_path_factory):
    import ray.data

    import fairgame.ray

    whole = pd.read_parquet(folder)
    cut = [ray.data.from_pandas([whole[:300_000], whole[300_000:]]), ray.data.from_pandas([whole])]
    found = [saved(fairgame.ray.train(TREES, one, actors=2), tmp_path_factory) for one in cut]
    assert found[0] == found[1]
    model = fairgame.train(TREES, whole[:5000])
    some = whole[5000:9000].reset_index(drop=True)
    dataset = ray.data.from_pandas([some[:1000], some[1000:]])
    told = lambda one: {name: value for name, value in vars(one).items() if name != "warnings"}
    assert told(fairgame.ray.evaluate(model, dataset)) == told(fairgame.evaluate(model, some))
    decided = fairgame.ray.predict(model, dataset).to_pandas()
    assert np.array_equal(np.sort(decided["probability"]), np.sort(model.predict_proba(some)[:, 1]))
    scored = some.assign(p=model.predict_proba(some)[:, 1])
    asked = {"label": 'hired == "yes"', "constraints": [RULE]}
    found = fairgame.ray.audit(ray.data.from_pandas([scored[:7], scored[7:]]), "p", **asked)
    assert told(found) == told(fairgame.audit(scored, scored["p"], **asked))


def test_ray_actors_are_killed(folder, wanted, ray, tmp_path_factory, monkeypatch):
    import fairgame.ray

    class Killer(fairgame.ray.RayEngine):
        def ask(self, holder, questions):
            if random.random() < 0.03:
                ray.kill(holder.actor)
            return super().ask(holder, questions)

    random.seed(3)
    monkeypatch.setattr(fairgame.ray, "RayEngine", Killer)
    model = fairgame.ray.train(TREES, folder, actors=2)
    assert saved(model, tmp_path_factory) == wanted["trees"] and model.cluster_["lost"] > 1
