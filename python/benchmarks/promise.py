#!/usr/bin/env python3
"""Promises of wrapped estimators, tested: how often does a constraint that training promised fail in the population?

    python python/benchmarks/promise.py --draws 200 --seed 700001

The population is known: a row's label has a probability that is a function of its features, so the rates of a classifier
are computed from these probabilities over many rows, without the noise of labels. Each draw is 2,000 training rows; the
constraints are a floor of recall in each of two groups, promised at 95 % confidence. The last column is by how much the true
losses are above what training expects of new rows: above 0, training is too optimistic.
"""

import argparse
import os
import warnings

import numpy as np

CONFIDENCE = 0.95
FLOOR = "recall(each group) >= 0.7"


def population(rows, seed):
    """Features, groups, and the probability of the label."""
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b"], size=rows, p=[0.7, 0.3])
    X = rng.normal(size=(rows, 4))
    X[:, 0] += 0.5 * (group == "a")
    logit = 1.5 * X[:, 0] - X[:, 1] + X[:, 2] * X[:, 0] - 0.7 - 0.4 * (group == "b")
    return X, group, 1 / (1 + np.exp(-logit))


def draw(estimator, seed, rows=2000, judged=100_000, margin="95%"):
    """One training: whether it promised, the worst true loss of a constraint, and the objective."""
    from fairgame import FairGameClassifier

    X, group, chance = population(rows, [seed, 0])
    y = np.random.default_rng([seed, 1]).random(rows) < chance
    own = {"estimator": estimator} if estimator is not None else {"model": "linear"}
    model = FairGameClassifier([FLOOR], objective="fpr()", margin=margin, random_state=seed, **own)
    model.fit(X, y, sensitive_features=group)
    fresh, of, truth = population(judged, [seed, 2])
    decided = model.predict_proba(fresh)[:, 1]
    recalls = [np.average(decided[of == one], weights=truth[of == one]) for one in ("a", "b")]
    fpr = np.average(decided, weights=1 - truth)
    # What training judged the losses to be on new rows, optimism included.
    judged_losses = [one["value"] + one["optimism"] for one in model.enforcement_]
    gap = np.mean([0.7 - recall - loss for recall, loss in zip(recalls, judged_losses)])
    return {"promised": model.standing_ == "promised", "loss": 0.7 - min(recalls), "fpr": float(fpr), "gap": float(gap)}


def estimators():
    from lightgbm import LGBMClassifier
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression

    return {
        "none: our own linear model": None,
        "LogisticRegression": LogisticRegression(),
        "LGBMClassifier, 50 trees of 7 leaves": LGBMClassifier(n_estimators=50, num_leaves=7, n_jobs=1, verbose=-1),
        "LGBMClassifier with its defaults, which overfits": LGBMClassifier(n_jobs=1, verbose=-1),
        "RandomForestClassifier, which overfits": RandomForestClassifier(100, random_state=0),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    warnings.simplefilter("ignore")
    print("| estimator | promise made | broken | worst loss, mean | fpr, mean | true loss − expected |")
    print("|---|---|---|---|---|---|")
    for name, estimator in estimators().items():
        found = [draw(estimator, given.seed + at) for at in range(given.draws)]
        made = [one for one in found if one["promised"]]
        broken = np.mean([one["loss"] > 0 for one in made])
        gaps = [one["gap"] for one in found]
        noise = np.sqrt(broken * (1 - broken) / len(made))
        print(
            f"| {name} | {100 * len(made) / len(found):.1f} % | {100 * broken:.1f} ± {100 * noise:.1f} %"
            f" | {np.mean([one['loss'] for one in made]):+.4f} | {np.mean([one['fpr'] for one in made]):.4f} |"
            f" {np.mean(gaps):+.4f} ± {np.std(gaps) / np.sqrt(len(gaps)):.4f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
