#!/usr/bin/env python3
"""Boosted trees beside LightGBM: the same settings on Adult and on a million rows like it.

    cargo build --release -p fairgame --example boost
    python python/benchmarks/trees.py --boost target/release/examples/boost --fairgame target/release/fairgame --out trees

Both grow 100 trees of 31 leaves with a learning rate of 0.1, at least 20 rows a leaf, 255 bins and no sampling.
Each run is a process of its own. CPU seconds (user and system) are those of the process, less those of the same process
that reads the files and trains nothing. Wall-clock seconds are those of binning and training. Memory is the peak of the
process; beside it stands that of the process that trains nothing.

Needs Python 3.10, numpy, pandas and lightgbm. The page is OUT/trees.md.
"""

import argparse
import json
import math
import pathlib
import statistics
import subprocess
import sys
import time
from importlib.metadata import version

LABEL, POSITIVE = "income", ">50K"


def child(train, test, threads, fits):
    """LightGBM in a process of its own."""
    import lightgbm
    import pandas as pd

    rows, new = pd.read_csv(train), pd.read_csv(test)
    y, truth = rows.pop(LABEL) == POSITIVE, new.pop(LABEL) == POSITIVE
    for name in rows.columns:
        if not pd.api.types.is_numeric_dtype(rows[name]):
            kind = pd.CategoricalDtype(rows[name].dropna().unique())
            rows[name], new[name] = rows[name].astype(kind), new[name].astype(kind)
    if not fits:
        print(json.dumps({"error": None, "seconds": 0.0}))
        return
    settings = dict(n_estimators=100, num_leaves=31, learning_rate=0.1, min_child_samples=20, n_jobs=threads, verbose=-1)
    started = time.perf_counter()
    model = lightgbm.LGBMClassifier(**settings).fit(rows, y)
    seconds = time.perf_counter() - started
    print(json.dumps({"error": float((model.predict(new) != truth).mean()), "seconds": seconds}))


def measured(command):
    """What a command prints, with its CPU seconds and peak memory."""
    launcher = (
        "import json, subprocess, sys; out = subprocess.run(sys.argv[1:], capture_output=True, text=True);"
        "sys.stderr.write(out.stderr); import resource; used = resource.getrusage(resource.RUSAGE_CHILDREN);"
        "print(json.dumps({**json.loads(out.stdout), 'cpu': used.ru_utime + used.ru_stime, 'mb': used.ru_maxrss / 1024}))"
    )
    out = subprocess.run([sys.executable, "-I", "-S", "-c", launcher, *command], capture_output=True, text=True, check=True)
    return json.loads(out.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--boost", default="target/release/examples/boost", help="path of the example `boost`")
    parser.add_argument("--fairgame", default="target/release/fairgame", help="path of the fairgame binary")
    parser.add_argument("--splits", type=int, default=10, help="how many splits of Adult")
    parser.add_argument("--rows", type=int, default=1_000_000, help="how many rows like Adult's")
    parser.add_argument("--seed", type=int, default=1, help="seed of the first split")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("trees"), help="folder of files and page")
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        train, test, threads, fits = given.child
        return child(train, test, int(threads), fits == "1")
    import numpy as np
    import pandas as pd

    given.out.mkdir(parents=True, exist_ok=True)
    subprocess.run([given.fairgame, "data", "export", "adult", given.out, "--format", "csv"], check=True, capture_output=True)
    adult = pd.concat([pd.read_csv(given.out / name) for name in ("adult.csv", "adult-test.csv")])

    def both(train, test, threads):
        """What our trees and LightGBM come to, each less its own process that trains nothing."""
        own = lambda threads: measured([given.boost, str(train), str(test), LABEL, POSITIVE, str(threads)])
        lightgbm = [sys.executable, __file__, "--child", str(train), str(test), str(threads)]
        found = []
        for trained, idle in ((own(threads), own(0)), (measured([*lightgbm, "1"]), measured([*lightgbm, "0"]))):
            found.append({**trained, "cpu": trained["cpu"] - idle["cpu"], "idle": idle["mb"]})
        return found

    lines, pairs = [], {1: [], 2: []}
    for split in range(given.splits):
        rows = adult.sample(frac=1, random_state=given.seed + split)
        cut = len(rows) * 2 // 3
        rows[:cut].to_csv(given.out / "train.csv", index=False)
        rows[cut:].to_csv(given.out / "test.csv", index=False)
        for threads in (1, 2):
            pairs[threads].append(both(given.out / "train.csv", given.out / "test.csv", threads))
    million = adult.sample(n=given.rows, replace=True, random_state=given.seed)
    rng = np.random.default_rng(given.seed)
    million["fnlwgt"] = million["fnlwgt"] + rng.integers(0, 1000, given.rows)
    million.to_csv(given.out / "train.csv", index=False)
    adult.sample(n=100_000, replace=True, random_state=given.seed + 1).to_csv(given.out / "test.csv", index=False)
    large = {threads: [both(given.out / "train.csv", given.out / "test.csv", threads)] for threads in (1, 2)}

    mean = lambda runs, which, key: statistics.fmean(run[which][key] for run in runs)
    for name, found in ((f"Adult, {given.splits} splits", pairs), (f"{given.rows:,} rows", large)):
        for threads, runs in found.items():
            ratio = mean(runs, 0, "cpu") / mean(runs, 1, "cpu")
            wall = mean(runs, 0, "seconds") / mean(runs, 1, "seconds")
            apart = [own["error"] - other["error"] for own, other in runs]
            noise = f" ± {2 * statistics.stdev(apart) / math.sqrt(len(apart)):.4f}" if len(apart) > 1 else ""
            lines.append(
                f"| {name} | {threads} | {mean(runs, 0, 'error'):.4f} | {mean(runs, 1, 'error'):.4f} |"
                f" {statistics.fmean(apart):+.4f}{noise} | {mean(runs, 0, 'cpu'):.2f} | {mean(runs, 1, 'cpu'):.2f} |"
                f" {ratio:.2f} | {mean(runs, 0, 'seconds'):.2f} | {mean(runs, 1, 'seconds'):.2f} | {wall:.2f} |"
                f" {mean(runs, 0, 'mb'):.0f} ({mean(runs, 0, 'idle'):.0f}) |"
                f" {mean(runs, 1, 'mb'):.0f} ({mean(runs, 1, 'idle'):.0f}) |"
            )
    head = (
        "| data | threads | our error | LightGBM's | difference ± two standard errors | our CPU s | LightGBM's | ratio |"
        " our wall s | LightGBM's | ratio | our MB | LightGBM's |"
    )
    made, how = __doc__.split("\n\n    ")[0], __doc__.split("\n\n")[2]
    page = f"# Boosted trees beside LightGBM {version('lightgbm')}\n\n{made.partition(': ')[2].capitalize()}\n\n"
    page += "Made by `python python/benchmarks/trees.py`.\n\n" + head + "\n|" + "---|" * (head.count("|") - 1) + "\n"
    page += "\n".join(lines) + f"\n\n{how}\n"
    (given.out / "trees.md").write_text(page, encoding="utf-8")
    print(page)


if __name__ == "__main__":
    main()
