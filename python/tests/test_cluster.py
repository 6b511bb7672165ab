"""Trainings on the workers of Dask and Ray: the same file to the bit as in one place, whoever is lost."""

import contextlib
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
STEPS = {**LINEAR, "algorithm": {"practical": {"turns": 80}}}
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


@contextlib.contextmanager
def local(workers, **how):
    """A cluster of processes of this machine, which are started anew when they die, and a client of it."""
    distributed = pytest.importorskip("distributed")
    pytest.importorskip("dask.dataframe")
    more = {"n_workers": workers, "threads_per_worker": 1, "processes": True, "dashboard_address": None, "memory_limit": 0}
    with distributed.LocalCluster(**more) as cluster, distributed.Client(cluster, **how) as client:
        yield client


@pytest.fixture(scope="module")
def client():
    with local(2) as client:
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
    with local(workers) as client:
        import fairgame.dask

        for name, policy in POLICIES.items():
            # Three files: with four workers, one has no rows.
            model = fairgame.dask.train(policy, folder, client)
            assert saved(model, tmp_path_factory) == wanted[name], name


def test_a_list_of_files_is_trained_on_as_the_command_line_does(folder, client, tmp_path_factory):
    import fairgame.dask
    from fairgame import _arguments, _fairgame

    # Not in the order of their names.
    names = [str(folder / f"{name}.parquet") for name in "cab"]
    classifier, _ = _fairgame.train(_arguments.to_json(TREES), names, None, 2, None, None)
    one = fairgame.FairGameClassifier._of(classifier)
    all_ = fairgame.dask.train(TREES, names, client)
    assert saved(one, tmp_path_factory) == saved(all_, tmp_path_factory)


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


class Killer:
    """Kills workers of a local cluster at some of the questions of a training."""

    def __init__(self, client, draws):
        self.nannies, self.draws = client.cluster.workers, draws
        self.killed, self.threads = set(), []

    def kill(self, address=None):
        """Kills the worker of this address, or any that is there."""

        def there():
            # A nanny gives up if its worker dies while it is started.
            running = [one for one in self.nannies.values() if one.pid and one.process.status.name == "running"]
            return [one for one in running if one.pid not in self.killed and address in (None, one.worker_address)]

        until(there)
        pid = self.draws.choice(there()).pid
        self.killed.add(pid)
        os.kill(pid, signal.SIGKILL)

    def soon(self, address=None):
        """Kills a moment later."""
        self.threads.append(threading.Timer(self.draws.random() * 0.02, self.kill, [address]))
        self.threads[-1].start()

    def at(self, moments, patched, *, both=False, starts=()):
        """Kills at these questions, both workers or one; and those that begin to build a shard, at these starts."""
        import fairgame.dask

        asked, started = [], []
        answers, start = _cluster.Engine._answers, fairgame.dask.DaskEngine.start

        def asking(engine, question):
            asked.append(question)
            if len(asked) in moments:
                for address in [one.worker_address for one in self.nannies.values()] if both else [None]:
                    self.soon(address)
                time.sleep(self.draws.random() * 0.02)
            return answers(engine, question)

        def starting(engine, place, runs, *, again):
            actor = start(engine, place, runs, again=again)
            if again not in started and again in starts:
                self.kill(place)
            started.append(again)
            return actor

        patched.setattr(_cluster.Engine, "_answers", asking)
        patched.setattr(fairgame.dask.DaskEngine, "start", starting)

    def done(self):
        for thread in self.threads:
            thread.join()
        self.threads = []


def test_dask_workers_are_killed(folder, wanted, tmp_path_factory, monkeypatch):
    """Ten kills: at any question, while actors are made, while a lost one is made again, and of two workers at once."""
    with local(2) as client:
        import fairgame.dask

        questions = fairgame.dask.train(TREES, folder, client).cluster_["questions"]
    draws, kills, lost = random.Random(7), 0, 0
    # How many kills are at questions, and what else happens.
    for count, more in ((1, {"starts": [False]}), (1, {"starts": [True]}), (1, {"both": True}), (2, {}), (2, {})):
        with local(2) as client, monkeypatch.context() as patched:
            killer = Killer(client, draws)
            killer.at(draws.sample(range(1, questions + 1), count), patched, **more)
            model = fairgame.dask.train(TREES, folder, client)
            killer.done()
        assert saved(model, tmp_path_factory) == wanted["trees"], (count, more)
        assert model.cluster_["questions"] == questions
        kills += len(killer.killed)
        lost += model.cluster_["lost"]
    assert kills == 10
    # A worker that dies behind its last answer is not missed, nor is one that has no shard.
    assert lost >= 7
    print(f"{kills} kills in trainings of {questions} questions, and {lost} shards that were lost")


def test_a_shard_that_is_lost_again_and_again(folder, client, monkeypatch):
    import fairgame.dask

    def gone(engine, holder, asked):
        raise _cluster.Lost

    monkeypatch.setattr(fairgame.dask.DaskEngine, "wait", gone)
    with pytest.raises(RuntimeError, match="a.parquet.* was lost 6 times in a row"):
        fairgame.dask.train(TREES, folder, client)


class Turns:
    """In place of the progress bar: keeps the turns, and stops at one of them."""

    def __init__(self, turns, stop=None):
        self.turns, self.stop, self.done = turns, stop, []

    def __call__(self, verbose):
        return self

    def __enter__(self):
        return self.told

    def __exit__(self, *_):
        return None

    def told(self, done, total):
        if total != self.turns:
            return  # A pass over the rows.
        self.done.append(done)
        if self.stop is not None and done >= self.stop:
            raise InterruptedError("stopped here")


def test_checkpoints_go_on_with_other_workers(folder, wanted, client, tmp_path, tmp_path_factory, monkeypatch):
    import fairgame.dask

    def trained(bar, where, **more):
        monkeypatch.setattr(_cluster, "Bar", bar)
        return fairgame.dask.train(STEPS, folder, where, **more)

    # There are two games, of 80 turns each.
    whole, first, second = Turns(160), Turns(160, stop=60), Turns(160)
    trained(whole, client)
    assert whole.done[-1] == 160
    with pytest.raises(InterruptedError, match="stopped here"):
        trained(first, client, checkpoint=tmp_path)
    assert 60 <= first.done[-1] < 80
    with pytest.raises(ValueError, match="checkpoint is there already"):
        fairgame.dask.train(STEPS, folder, client, checkpoint=tmp_path)
    with local(1) as other:
        model = trained(second, other, checkpoint=tmp_path, resume=True)
    # It goes on where it was stopped, and not from the beginning.
    assert second.done[0] >= 60 and second.done[-1] == 160
    assert len(second.done) < 0.75 * len(whole.done)
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
    # A type counts where all values are missing, too.
    data.assign(more=np.full(2000, np.nan)).to_parquet(tmp_path / "a.parquet")
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
    pytest.importorskip("distributed")
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

    with local(1) as client:
        client.run(hide)
        with pytest.raises(RuntimeError, match="has no package fairgame: install fairgame"):
            fairgame.dask.train(TREES, folder, client)


def test_a_worker_with_another_version_or_without_the_files(folder, tmp_path, monkeypatch):
    def older():
        import importlib.metadata

        importlib.metadata.version = lambda name: "0.0.9"

    def renamed():
        import importlib

        import fairgame._partitions

        importlib.reload(importlib.metadata)
        del fairgame._partitions.Shard

    with local(1) as client:
        import fairgame.dask

        [address] = client.scheduler_info()["workers"]
        gone = [_cluster.Run(0, "gone.parquet", str(tmp_path / "gone.parquet"))]
        with monkeypatch.context() as patched, pytest.raises(OSError, match=f"on the worker {address}: .*no such file"):
            patched.setattr(_cluster, "files", lambda data: gone)
            fairgame.dask.train(TREES, folder, client)
        client.run(older)
        with pytest.raises(RuntimeError, match=f"the worker {address} has fairgame 0.0.9, and the client has "):
            fairgame.dask.train(TREES, folder, client)
        # One whose version is not known, and which lacks what is called there.
        client.run(renamed)
        with pytest.raises(RuntimeError, match=f"the worker {address} has fairgame .*, which is another version: install"):
            fairgame.dask.train(TREES, folder, client)


def test_workers_that_are_paused(folder, tmp_path_factory, wanted, monkeypatch):
    def pause(dask_worker):
        from distributed.core import Status

        dask_worker.memory_manager = None  # It would go on by itself.
        dask_worker.status = Status.paused

    with local(2) as client:
        import fairgame.dask

        def paused():
            return sum(one["status"] == "paused" for one in client.scheduler_info()["workers"].values())

        client.run(pause, workers=[min(client.scheduler_info()["workers"])])
        until(lambda: paused() == 1)
        model = fairgame.dask.train(TREES, folder, client)
        assert model.cluster_["shards"] == 1 and saved(model, tmp_path_factory) == wanted["trees"]
        client.run(pause)
        until(lambda: paused() == 2)
        monkeypatch.setattr(_cluster, "NO_WORKER", 0.5)
        with pytest.raises(RuntimeError, match="no worker of the cluster is running .* is paused"):
            fairgame.dask.train(TREES, folder, client)


def test_missing_values_of_the_policy(client, tmp_path):
    import fairgame.dask

    data = people(4000, 5)
    data["more"] = np.where(np.arange(4000) % 5 < 2, -999, np.round(data["more"] * 100)).astype(int)
    policy = {**TREES, "missing": {"also": ["-999"]}}
    for ending, write in (("parquet", pd.DataFrame.to_parquet), ("csv", pd.DataFrame.to_csv)):
        folder = tmp_path / ending
        folder.mkdir()
        write(data[:1500], folder / f"a.{ending}", index=False)
        write(data[1500:], folder / f"b.{ending}", index=False)
        one, all_ = fairgame.train(policy, folder), fairgame.dask.train(policy, folder, client)
        other = fairgame.dask.train(TREES, folder, client)
        found = [model.predict_proba(data.assign(more=np.nan)) for model in (one, all_, other)]
        assert np.array_equal(found[0], found[1]) and one.mixture_ == all_.mixture_
        assert not np.array_equal(found[0], found[2])


def test_settings_that_need_all_rows_in_one_place(folder, client):
    import fairgame.dask

    with pytest.raises(ValueError, match="1020000 rows would be sent here, because of this setting"):
        fairgame.dask.train({**LINEAR, "datasets": "one"}, folder, client)


def test_labels_are_asked_of_the_client(tmp_path):
    """Also where another scheduler is the default one."""
    dd = pytest.importorskip("dask.dataframe")
    data = people(3000, 6)
    data["sex"] = data["sex"].astype(object)

    def marked(part, where=str(tmp_path)):
        import os
        import pathlib

        pathlib.Path(where, str(os.getpid())).touch()
        return part

    import dask

    with local(1, set_as_default=False) as client, dask.config.set(scheduler="threads"):
        ddf = dd.from_pandas(data, npartitions=2).map_partitions(marked, meta=data.iloc[:0])
        for one in tmp_path.iterdir():
            one.unlink()
        pids = {str(pid) for pid in client.run(os.getpid).values()}
        fairgame.FairGameClassifier([RULE], client=client, model=TREES["model"]).fit(ddf, "hired")
        assert {one.name for one in tmp_path.iterdir()} == pids


def test_few_rows_and_what_is_wrong_with_a_value(client, tmp_path):
    import fairgame.dask

    data = people(3000, 3)
    data[:1000].to_parquet(tmp_path / "a.parquet")
    data[1000:].to_parquet(tmp_path / "b.parquet")
    one, all_ = fairgame.train(TREES, tmp_path), fairgame.dask.train(TREES, tmp_path, client)
    assert np.array_equal(one.predict_proba(data), all_.predict_proba(data))
    # A column without type or values is of the kind that it has elsewhere.
    data[:1000].assign(job=None).to_parquet(tmp_path / "a.parquet")
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
        ({"prefit": True}, "prefit is for rows in one place"),
        ({"group_estimator": fairgame.FairGameClassifier()}, "group_estimator is for rows in one place"),
        ({"constraints": ["tpr(each town) >= 0.1"]}, "no column `town`"),
    ):
        with pytest.raises(ValueError, match=message):
            clone(away).set_params(**wrong).fit(ddf, "hired")
    with pytest.raises(ValueError, match="client is for rows on a cluster, and X is DataFrame"):
        clone(away).fit(rows, whole["hired"][:4000])
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
    """Also where something else takes the processors of an actor that was lost."""
    import fairgame.ray

    class Other:
        pass

    others = []

    class Killed(fairgame.ray.RayEngine):
        def ask(self, holder, questions):
            if random.random() < 0.03:
                ray.kill(holder.actor.actor)
                others.append(ray.remote(Other).options(num_cpus=4).remote())
            return super().ask(holder, questions)

    random.seed(3)
    monkeypatch.setattr(fairgame.ray, "RayEngine", Killed)
    model = fairgame.ray.train(TREES, folder, actors=2)
    for other in others:
        ray.kill(other)
    assert saved(model, tmp_path_factory) == wanted["trees"] and model.cluster_["lost"] > 1


def test_ray_says_what_it_waits_for(folder, ray, tmp_path, monkeypatch):
    import ray.data

    import fairgame.ray

    class Other:
        def there(self):
            return True

    gone = [_cluster.Run(0, "gone.parquet", str(tmp_path / "gone.parquet"))]
    with monkeypatch.context() as patched, pytest.raises(OSError, match="on the node .*: .*no such file"):
        patched.setattr(_cluster, "files", lambda data: gone)
        fairgame.ray.train(TREES, folder, actors=1)
    other = ray.remote(Other).options(num_cpus=4).remote()
    ray.get(other.there.remote())
    monkeypatch.setattr(_cluster, "NO_WORKER", 3.0)
    monkeypatch.setattr(_cluster, "PATIENCE", 0.5)
    with pytest.raises(RuntimeError, match=r"the actor for .*a\.parquet.* did not start in 3 s on the node .*: 0 processors"):
        fairgame.ray.train(TREES, folder, actors=2)
    ray.kill(other)
    with pytest.raises(ValueError, match="Ray is reached by ray.init"):
        fairgame.FairGameClassifier([RULE], client=3).fit(ray.data.from_pandas([people(100, 1)]), "hired")


def test_what_tells_that_an_actor_of_ray_is_lost(ray):
    """A node that is lost once its answer was given takes the answer with it."""
    import fairgame.ray

    errors = ray.exceptions
    engine = fairgame.ray.RayEngine([])
    holder = _cluster.Holder([], "node", fairgame.ray._Made(None, None, None))

    @ray.remote
    def failing(error):
        raise error

    for error in (errors.ObjectLostError("0" * 56, None, "there"), errors.NodeDiedError("gone"), errors.RayActorError()):
        with pytest.MonkeyPatch.context() as patched:

            def get(asked, timeout, error=error):
                raise error

            patched.setattr(ray, "get", get)
            with pytest.raises(_cluster.Lost):
                engine.wait(holder, None)
    # What a shard itself has raised is no loss.
    with pytest.raises(ValueError, match="on the node node: damaged"):
        engine.wait(holder, failing.remote(ValueError("damaged")))
