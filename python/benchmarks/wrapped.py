#!/usr/bin/env python3
"""LightGBM wrapped by FairGameClassifier beside the same LightGBM in fairlearn's ExponentiatedGradient.

    python python/benchmarks/wrapped.py --fairgame target/release/fairgame --seeds 9701-9710 --out wrapped

Problems, splits and measures are those of compare.py. Both are asked for the same constraints, on the same rows, in one
process on one thread. The results of finished runs are kept in OUT/results.jsonl, so that a run can be resumed. The page
is OUT/wrapped.md.
"""

import argparse
import csv
import json
import os
import statistics
import time
import warnings
from importlib.metadata import version
from pathlib import Path

import compare
import numpy as np

PEER, OURS = "fairlearn", "wrapped"
# fairlearn on as many rows as each of our folds learns from, and our mean of the folds.
FEWER, MEAN = "fairlearn-80", "wrapped-mean"
TAUGHT = 0.8
COMPARISONS = {
    "adult": ("Adult, 80 % rule", "LightGBM with its defaults", ""),
    "compas": ("COMPAS, tpr at most .05 above that of all", "LightGBM with its defaults", ""),
    "compas-small": ("COMPAS, smaller trees", "LightGBM with 6 leaves, a rate of 0.05 and at least 30 rows a leaf", "-small"),
}


def problem_of(comparison):
    return compare.PROBLEMS[comparison.removesuffix("-small")]


def fit_wrapped(problem, bound, size, seed, **more):
    from fairgame import FairGameClassifier

    estimator = compare.lightgbm_classifier(problem, size)
    model = FairGameClassifier(list(problem.constraints(bound)), estimator=estimator, random_state=seed, **more)

    def fit(features, label):
        model.fit(features, label)
        return lambda rows: model.predict_proba(rows)[:, 1], {"fits": len(model.estimators_)}

    return fit


def fit_fewer(problem, size, seed):
    """fairlearn on a random part of the training rows."""
    fit_all = compare.fit_fairlearn(problem, f"fairlearn{size}", seed)

    def fit(features, label):
        count = int(TAUGHT * len(label))
        rows = np.sort(np.random.default_rng(seed).permutation(len(label))[:count])
        return fit_all(features.iloc[rows].reset_index(drop=True), label.iloc[rows].reset_index(drop=True))

    return fit


def methods(comparison):
    """The name of each method, and how it is fitted."""
    problem, size = problem_of(comparison), COMPARISONS[comparison][2]
    yield PEER, lambda seed: compare.fit_fairlearn(problem, f"fairlearn{size}", seed)
    yield FEWER, lambda seed: fit_fewer(problem, size, seed)
    mean = {"selection": {"shrink": {"blend": "mean"}}}
    yield MEAN, lambda seed: fit_wrapped(problem, problem.bound, size or "lightgbm", seed, **mean)
    for bound in problem.grid:
        name = OURS if bound == problem.bound else f"{OURS}@{bound}"
        yield name, lambda seed, bound=bound: fit_wrapped(problem, bound, size or "lightgbm", seed)


def run_all(fairgame, seeds, out):
    """Runs what is not done yet; all results by comparison, method and seed."""
    out.mkdir(parents=True, exist_ok=True)
    kept, done = out / "results.jsonl", {}
    for line in kept.read_text().splitlines() if kept.exists() else []:
        one = json.loads(line)
        done[one["comparison"], one["method"], one["seed"]] = one
    problems = {problem_of(comparison) for comparison in COMPARISONS}
    splits = {problem: compare.write_splits(fairgame, problem, seeds, out) for problem in problems}
    for seed in seeds:
        for comparison in COMPARISONS:
            problem = problem_of(comparison)
            train, test = splits[problem][seed]
            features, labels = compare.encoded(problem, train, test)
            with open(test, newline="") as file:
                rows = list(csv.DictReader(file))
            for method, make in methods(comparison):
                if (comparison, method, seed) in done:
                    continue
                fit = make(seed)
                start = time.process_time()
                predict, note = fit(features[0], labels[0])
                seconds = time.process_time() - start
                chances = [float(chance) for chance in predict(features[1])]
                found = compare.measure_rows(problem, rows, chances)
                one = {"comparison": comparison, "method": method, "seed": seed, "seconds": seconds} | note | found
                done[comparison, method, seed] = one
                with open(kept, "a") as file:
                    file.write(json.dumps(one) + "\n")
    return done


def section(table, comparison):
    title, what, _ = COMPARISONS[comparison]
    problem, rows = problem_of(comparison), []
    grid = [(bound, OURS if bound == problem.bound else f"{OURS}@{bound}") for bound in problem.grid]
    named = [(PEER, "fairlearn, ExponentiatedGradient")]
    named += [(name, f"fairgame, `estimator=`, bound {bound}") for bound, name in grid]
    named += [(MEAN, f"fairgame, `estimator=`, bound {problem.bound}, mean of the folds")]
    named += [(FEWER, "fairlearn, on 80 % of the training rows")]
    for name, text in named:
        each = lambda key: table.each(comparison, name, key)
        rows.append([
            text,
            compare.with_error(each("error")),
            compare.with_error(each("violation"), signed=True),
            f"{statistics.mean(each('fits')):.1f}",
            f"{statistics.mean(each('seconds')):.2f}",
        ])
    equal = compare.at_equal(table, comparison, grid, PEER, "violation", "error")
    fits = table.mean(comparison, PEER, "fits") / table.mean(comparison, OURS, "fits")
    ours, its = statistics.mean(equal["costs"]), table.mean(comparison, PEER, "error")
    lines = [f"## {title}", "", f"{what}.", ""]
    lines += compare.rows_to_markdown(["method", "test error", "worst violation", "fits", "CPU s to fit"], rows)
    outside = " That is outside the violations of our bounds, so it is extrapolated." if equal["outside"] else ""
    lines += [
        f"At equal mean violation ({compare.number(equal['target'], signed=True)}, our bound {equal['bound']:.4f}) our error is"
        f" {compare.number(ours)} and its error {compare.number(its)}: a difference of"
        f" {compare.number(equal['difference'], signed=True)} ± {compare.number(2 * equal['error'])} (two standard errors)."
        f"{outside} fairlearn fits LightGBM {fits:.1f} times as often.",
        "",
    ]
    if equal["difference"] > 2 * equal["error"]:
        lines += [
            "**Here we fall short**: our error is above its error by more than two standard errors.",
            "",
        ]
    return lines


def write_page(table, seeds, path):
    peers = ", ".join(f"{name} {version(name)}" for name in ("fairlearn", "lightgbm", "scikit-learn"))
    lines = [
        "# LightGBM wrapped, beside fairlearn",
        "",
        "This command makes the page and all of its numbers:",
        "",
        f"    python python/benchmarks/wrapped.py --fairgame target/release/fairgame --seeds {seeds[0]}-{seeds[-1]} --out wrapped",
        "",
        f"Versions: {peers}. There are {len(seeds)} random splits: two thirds of the rows train, one third tests.",
        "",
        "`FairGameClassifier(constraints, estimator=LGBMClassifier())` stands beside fairlearn's"
        " `ExponentiatedGradient(LGBMClassifier(), …)`, with the same constraints and the same rows. Problems and measures are"
        " those of [compare.md](compare.md), which also says how errors are compared at equal violation. ± is one standard"
        " error over the splits. Fits are fits of LightGBM.",
        "",
        "A fold's model learns from 80 % of the training rows, and fairlearn's models from all of them. The last row of each"
        " table says what that costs fairlearn: its error and violation when it learns from 80 %, too. With"
        ' `selection={"shrink": {"blend": "mean"}}` the mean of the five folds\' probabilities decides. It has less error, and'
        " nothing is promised of it, because it is not what was judged.",
        "",
    ]
    for comparison in COMPARISONS:
        lines += section(table, comparison)
    path.write_text("\n".join(lines).rstrip() + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fairgame", default="target/release/fairgame", help="the command line, to export the data")
    parser.add_argument("--seeds", default="1-2", help="first and last seed")
    parser.add_argument("--out", type=Path, default=Path("wrapped"))
    given = parser.parse_args()
    os.environ |= compare.ONE_THREAD
    warnings.simplefilter("ignore")
    first, last = map(int, given.seeds.split("-"))
    seeds = list(range(first, last + 1))
    table = compare.Table(run_all(given.fairgame, seeds, given.out), seeds)
    write_page(table, seeds, given.out / "wrapped.md")


if __name__ == "__main__":
    main()
