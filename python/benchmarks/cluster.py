#!/usr/bin/env python3
"""What does a cluster cost, beside one process?

    python python/benchmarks/cluster.py evaluation --rows 2000000
    python python/benchmarks/cluster.py training --rows 10000000
    python python/benchmarks/cluster.py simulation --rows 2000000

`evaluation`: a classifier on rows that lie in memory, on 1 and 2 local processes of Dask. Each line is the median of five.

`training`: boosted trees and the linear model on Parquet files, by two threads of one process, and by 2 local processes of Dask
with a thread each; medians of three. It prints how many questions are asked and how many bytes cross, and checks that the files are equal.

`simulation`: what the driver does with more workers than there are: one shard has all rows, and the others have none. Their
answers are as long as others', so the driver reads and adds up as many bytes. What shards need to answer is taken off. Then the same
answers once more, through Dask: actors in two local processes return what was recorded, at once. So this is what the engine costs.
"""

import argparse
import contextlib
import pathlib
import statistics
import tempfile
import time
import warnings

import numpy as np
import pandas as pd

RULE = "tpr(each sex) >= tpr() - 0.1"


def people(rows, seed):
    rng = np.random.default_rng(seed)
    sex = pd.Categorical.from_codes(rng.integers(0, 4, size=rows), ["a", "b", "c", "d"])
    skill = rng.normal(size=rows)
    return pd.DataFrame({"sex": sex, "skill": skill, "more": rng.normal(size=rows), "hired": skill + rng.normal(size=rows) > 0.4,
                         "id": np.arange(rows) // 2})


def median(run):
    def once():
        start = time.perf_counter()
        run()
        return time.perf_counter() - start

    return statistics.median(once() for _ in range(5))


def evaluation(rows):
    import dask.dataframe as dd
    import distributed

    import fairgame
    import fairgame.dask
    from fairgame import _fairgame, _partitions

    train, data = people(20_000, 1), people(rows, 2)
    model = fairgame.FairGameClassifier([RULE]).fit(train[["sex", "skill", "more"]], train["hired"], sensitive_features="sex")
    for name, unit in (("without units", None), ("with units", "id")):
        part = _partitions.evaluated(data[: rows // 8], model, None, unit, _fairgame.__version__)
        print(f"bytes of sums of a partition of {rows // 8} rows, {name}: {len(part)}")
    print()
    print(f"| {rows} rows | partitions | seconds | million rows a second |")
    print("|---|---:|---:|---:|")
    line = lambda name, parts, seconds: print(f"| {name} | {parts} | {seconds:.2f} | {rows / seconds / 1e6:.2f} |", flush=True)
    line("one process", 1, median(lambda: fairgame.evaluate(model, data)))
    for workers in (1, 2):
        with cluster(workers) as client:
            ddf = dd.from_pandas(data, npartitions=8).persist()
            distributed.wait(ddf)
            line(f"Dask, {workers} processes", 8, median(lambda: fairgame.dask.evaluate(model, ddf)))
            del client


@contextlib.contextmanager
def cluster(workers):
    import distributed

    how = {"n_workers": workers, "threads_per_worker": 1, "processes": True, "dashboard_address": None, "memory_limit": 0}
    with distributed.LocalCluster(**how) as cluster, distributed.Client(cluster) as client:
        yield client


def policy(model):
    return {"label": "hired", "constraints": [RULE], "encoder": {"ignore": ["id"]}, "model": model}


TREES = {"trees": {"trees": 100, "leaves": 31, "patience": 100}}


def written(rows, folder, files=8):
    """Rows as so many Parquet files."""
    for file in range(files):
        count = rows * (file + 1) // files - rows * file // files
        data = people(count, 100 + file)
        for name in ("a", "b", "c", "d", "e", "f"):
            data[name] = np.random.default_rng(file).normal(size=count).round(2)
        data.to_parquet(folder / f"part{file}.parquet", index=False)


def training(rows):
    import fairgame
    import fairgame.dask

    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        written(rows, folder)
        print(f"| {rows} rows, 10 columns | two threads, s | two processes of Dask, s | ratio | questions | bytes asked | bytes answered |")
        print("|---|---:|---:|---:|---:|---:|---:|")
        for name, model in (("100 trees of 31 leaves", TREES), ("linear", "linear")):
            here, there = [], []
            for _ in range(3):
                here.append(timed(lambda: fairgame.train(policy(model), folder, n_jobs=2)))
                with cluster(2) as client:
                    there.append(timed(lambda: fairgame.dask.train(policy(model), folder, client, n_jobs=2)))
            one, away = here[0][1], there[0][1]
            here, there = (statistics.median(seconds for seconds, _ in both) for both in (here, there))
            same(one, away, folder)
            counts = away.cluster_
            told = f"{counts['questions']} | {counts['bytes_asked']:,} | {counts['bytes_answered']:,}"
            print(f"| {name} | {here:.1f} | {there:.1f} | {there / here:.2f} | {told} |", flush=True)


def timed(run):
    start = time.perf_counter()
    result = run()
    return time.perf_counter() - start, result


def same(one, other, folder):
    files = []
    for model in (one, other):
        model.save(folder.parent / "fairgame-model.safetensors")
        files.append((folder.parent / "fairgame-model.safetensors").read_bytes())
    assert files[0] == files[1], "the files differ"


def simulation(rows):
    from fairgame import _arguments, _fairgame

    train = lambda ask: _fairgame.train_shards(_arguments.to_json(policy(TREES)), ask, "rows", 2)
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        written(rows, folder, files=1)
        [path] = _fairgame.files(str(folder))
        print("| workers | questions | driver, s | adding up answers, ms per question | questions a second, if answers take no time |")
        print("|---:|---:|---:|---:|---:|")
        alone, drivers = None, {}
        for workers in (1, 8, 64, 512):
            real, empty = _fairgame.Shard([(0, path, path)], 2), _fairgame.Shard([], 1)
            recording = Recording(folder / f"answers{workers}") if workers in THROUGH_DASK else None
            spent = {"shards": 0.0, "questions": 0}

            def ask(question, keep):
                start = time.perf_counter()
                first, other = real.answer(question), empty.answer(question)
                if recording is not None:
                    recording.add(first, other)
                spent["shards"] += time.perf_counter() - start
                spent["questions"] += 1
                return [first, *[other] * (workers - 1)]

            start = time.perf_counter()
            train(ask)
            driver, questions = time.perf_counter() - start - spent["shards"], spent["questions"]
            drivers[workers] = driver
            alone = driver if alone is None else alone
            adding = 1000 * (driver - alone) / questions
            print(f"| {workers} | {questions} | {driver:.2f} | {adding:.2f} | {questions / driver:.0f} |", flush=True)
        print()
        print("| actors of Dask, in two processes | questions | bytes answered | all, s | Dask, ms per question |")
        print("|---:|---:|---:|---:|---:|")
        for workers in THROUGH_DASK:
            with cluster(2) as client:
                engine = replay(client, folder / f"answers{workers}", workers)
                start = time.perf_counter()
                train(engine)
                took = time.perf_counter() - start
                engine.close()
                engine.client.close()
            counts = engine.counts
            dask = 1000 * (took - drivers[workers]) / counts.questions
            print(f"| {workers} | {counts.questions} | {counts.bytes_answered:,} | {took:.2f} | {dask:.2f} |", flush=True)


THROUGH_DASK = (8, 64)


class Recording:
    """Answers in two files: those of the first shard, and those of any other."""

    def __init__(self, path):
        self.files = [open(f"{path}.{which}", "wb") for which in ("first", "other")]

    def add(self, *answers):
        for file, answer in zip(self.files, answers):
            file.write(len(answer).to_bytes(8, "little") + answer)
            file.flush()


def replay(client, path, workers):
    """An engine whose actors return what was recorded."""
    import mmap

    import fairgame.dask
    from fairgame import _cluster

    class Replayed:
        def __init__(self, path):
            with open(path, "rb") as file:
                self.answers, self.at = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), 0

        def answer(self, questions):
            start = self.at + 8
            self.at = start + int.from_bytes(self.answers[self.at : start], "little")
            return self.answers[start : self.at]

    class Replay(fairgame.dask.DaskEngine):
        def places(self):
            there = super().places()
            return [there[at % len(there)] for at in range(workers)]

        def on_each(self, places, function, *given):
            return {}

        def start(self, place, runs, *, again):
            recorded = f"{path}.{'other' if runs[0].number else 'first'}"
            how = {"workers": [place], "actor": True, "pure": False, "allow_other_workers": False}
            with self.client.as_current():
                return fairgame.dask._Made(self.client.submit(Replayed, recorded, **how))

    own = fairgame.dask._connected(client)
    return Replay([_cluster.Run(number, f"{number}", None) for number in range(workers)], client=own)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["evaluation", "training", "simulation"])
    parser.add_argument("--rows", type=int, default=2_000_000)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    {"evaluation": evaluation, "training": training, "simulation": simulation}[given.what](given.rows)


if __name__ == "__main__":
    main()
