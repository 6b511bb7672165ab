#!/usr/bin/env python3
"""How long does an evaluation take on Dask's local processes, beside one process, and how many bytes come back?

    python python/benchmarks/cluster.py --rows 2000000

Rows are made up, and lie on the workers before the clock starts. Each line is the median of five evaluations.
"""

import argparse
import statistics
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


def main():
    import dask.dataframe as dd
    import distributed

    import fairgame
    import fairgame.dask
    from fairgame import _fairgame, _partitions

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2_000_000)
    rows = parser.parse_args().rows
    warnings.simplefilter("ignore")
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
        settings = {"n_workers": workers, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
        with distributed.LocalCluster(**settings) as cluster, distributed.Client(cluster):
            ddf = dd.from_pandas(data, npartitions=8).persist()
            distributed.wait(ddf)
            line(f"Dask, {workers} processes", 8, median(lambda: fairgame.dask.evaluate(model, ddf)))


if __name__ == "__main__":
    main()
