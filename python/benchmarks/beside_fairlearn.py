"""Adult under the four-fifths rule: fairlearn's ExponentiatedGradient beside fairgame, in one run.

    pip install '.[bench]' && python python/benchmarks/beside_fairlearn.py [--repeats 3] [--cli target/release/fairgame]

Each is run in a process of its own, for its wall clock and its peak memory, in turns; printed are medians. Both have
the same rows and a linear model, and both are judged by the same four groups, which overlap: women, men, Black and
White people are each to be accepted at least 0.8 times as often as everyone. That is what fairgame is asked for.
fairlearn's groups do not overlap, so that it is asked for more: DemographicParity at a ratio of 0.8, which bounds both
sides, of the six groups of sex by race.
With --cli, the same training is run by the command line too, from a file that is read and a model that is written:
what Python costs on top.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

GROUPS = {"women": ("sex", "Female"), "men": ("sex", "Male"), "black": ("race", "Black"), "white": ("race", "White")}
RULES = [f'positive_rate({column} == "{value}") >= 0.8 * positive_rate()' for column, value in GROUPS.values()]


def rows():
    import fairgame

    people, later = fairgame.dataset("adult"), fairgame.dataset("adult/test")
    split = lambda table: (table.drop(columns=["income", "fnlwgt"]), (table["income"] == ">50K").to_numpy())
    return split(people), split(later)


def judged(table, y, chance) -> dict[str, float]:
    """Test error and worst violation over the four groups, of decisions as chances."""
    overall = chance.mean()
    worst = max(0.8 * overall - chance[(table[column] == value).to_numpy()].mean() for column, value in GROUPS.values())
    return {"error": float((y * (1 - chance) + (1 - y) * chance).mean()), "violation": float(worst)}


def fairgame_() -> dict[str, float]:
    from fairgame import FairGameClassifier

    (X, y), (later, y_later) = rows()
    start = time.perf_counter()
    model = FairGameClassifier(RULES, model="linear", random_state=1).fit(X, y)
    seconds = time.perf_counter() - start
    return {"seconds": seconds} | judged(later, y_later, model.predict_proba(later)[:, 1])


def fairlearn_() -> dict[str, float]:
    import pandas as pd
    from fairlearn.reductions import DemographicParity, ExponentiatedGradient
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    (X, y), (later, y_later) = rows()
    race = X["race"].astype(str).where(X["race"].isin(["Black", "White"]), "Other")
    group = X["sex"].astype(str) + " " + race
    encode = make_column_transformer(
        (StandardScaler(), make_column_selector(dtype_include="number")),
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
    )
    start = time.perf_counter()
    features = pd.DataFrame(encode.fit_transform(X).toarray())
    model = ExponentiatedGradient(LogisticRegression(max_iter=1000), DemographicParity(ratio_bound=0.8))
    model.fit(features, y.astype(int), sensitive_features=group)
    seconds = time.perf_counter() - start
    chance = model._pmf_predict(encode.transform(later).toarray())[:, 1]
    return {"seconds": seconds} | judged(later, y_later, chance)


def in_process(name: str) -> dict[str, float]:
    return json.loads(subprocess.run([sys.executable, __file__, "--one", name], check=True, capture_output=True).stdout)


def overhead(command: str, repeats: int) -> None:
    """The command line and Python on one file: both read it, train, and write the model."""
    import fairgame

    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "adult.csv"
        fairgame.dataset("adult").to_csv(data, index=False)
        flags = [flag for rule in RULES for flag in ("--constraint", rule)]
        line = [command, "train", data, "--label", 'income == ">50K"', *flags, "--seed", "1", "--threads", "1"]
        line += ["--model", "linear", "--ignore", "fnlwgt", "--quiet", "-o", Path(folder) / "line.safetensors"]
        times: dict[str, list[float]] = {"line": [], "python": []}
        for _ in range(repeats):
            start = time.perf_counter()
            subprocess.run(line, capture_output=True)
            times["line"].append(time.perf_counter() - start)
            spent = subprocess.run([sys.executable, __file__, "--overhead", data], check=True, capture_output=True)
            times["python"].append(json.loads(spent.stdout))
        both = [fairgame.load(Path(folder) / f"{name}.safetensors") for name in times]
        later = fairgame.dataset("adult/test")
        same = (both[0].decision_function(later) == both[1].decision_function(later)).all()
    ours, line = statistics.median(times["python"]), statistics.median(times["line"])
    print(f"\nThe same training from a file to a model: command line {line:.2f} s, Python {ours:.2f} s")
    print(f"({100 * (ours / line - 1):+.1f} %; Python's start and imports are not counted).")
    assert same, "both are the same model"


def overhead_of_python(data: str) -> None:
    import fairgame

    start = time.perf_counter()
    policy = {"label": 'income == ">50K"', "constraints": RULES, "seed": 1, "encoder": {"ignore": ["fnlwgt"]}}
    model = fairgame.train(policy, data)
    model.save(Path(data).parent / "python.safetensors")
    print(time.perf_counter() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--cli", help="the command line, to compare with")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--overhead", help=argparse.SUPPRESS)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.overhead:
        return overhead_of_python(given.overhead)
    if given.one:
        found = {"fairgame": fairgame_, "fairlearn": fairlearn_}[given.one]()
        found["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps(found))
        return None
    all_runs: dict[str, list[dict[str, float]]] = {"fairlearn": [], "fairgame": []}
    for _ in range(given.repeats):
        for name, runs in all_runs.items():
            runs.append(in_process(name))
    print(f"{'':<12}{'seconds':>9}{'peak MB':>9}{'test error':>12}{'worst violation':>17}")
    medians = {}
    for name, runs in all_runs.items():
        median = medians[name] = {key: statistics.median(run[key] for run in runs) for key in runs[0]}
        print(
            f"{name:<12}{median['seconds']:>9.2f}{median['megabytes']:>9.0f}"
            f"{median['error']:>12.4f}{median['violation']:>+17.4f}"
        )
    print(f"fairgame is {medians['fairlearn']['seconds'] / medians['fairgame']['seconds']:.1f} times as fast.")
    if given.cli:
        overhead(given.cli, given.repeats)
    return None


if __name__ == "__main__":
    main()
