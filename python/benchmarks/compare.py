#!/usr/bin/env python3
"""Compare fairgame with fairlearn, LightGBM and scikit-learn on Adult and COMPAS.

    python python/benchmarks/compare.py --fairgame target/release/fairgame --seeds 8101-8110 --out comparison

Each seed shuffles the rows and keeps two thirds to train on and one third to test on.
Each method runs as a process of its own, on one thread.
We measure its CPU time (user and system) and its peak memory, never the wall clock.

The results of finished runs are kept in OUT/results.jsonl, one JSON object a line.
Start the script again to resume. The page is OUT/compare.md.

Needs Python 3.10, numpy, pandas, scikit-learn, lightgbm and fairlearn.
"""

import argparse
import csv
import hashlib
import json
import math
import os
import random
import shutil
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

ONE_THREAD = {
    name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
}

# A child inherits the peak memory of the process that forks it.
# A bare interpreter of about 10 MB therefore starts each child and waits for it.
LAUNCHER = """
import json, os, sys
out, err, usage, *command = sys.argv[1:]
pid = os.fork()
if pid == 0:
    for path, number in ((out, 1), (err, 2)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), number)
    os.execvp(command[0], command)
_, status, used = os.wait4(pid, 0)
with open(usage, "w") as file:
    json.dump({
        "code": os.waitstatus_to_exitcode(status),
        "cpu": used.ru_utime + used.ru_stime,
        "mb": used.ru_maxrss / 1024,
    }, file)
"""


# ---------------------------------------------------------------- problems


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows, a label, and one constraint for each group; groups may overlap."""

    name: str
    features: tuple
    categories: tuple
    label: str
    positive: str
    condition: str
    kind: str  # "ratio": positive_rate(g) >= bound * positive_rate(); "tpr": tpr(g) <= tpr() + bound
    bound: float
    groups: tuple
    grid: tuple
    small: dict  # LightGBM's parameters for trees of the size that fairgame grows on this data

    def constraints(self, bound=None):
        bound = self.bound if bound is None else bound
        for column, value in self.groups:
            group = f'{column} == "{value}"'
            if self.kind == "ratio":
                yield f"positive_rate({group}) >= {bound} * positive_rate()"
            else:
                yield f"tpr({group}) <= tpr() + {bound}"


ADULT = Problem(
    name="adult",
    features=(
        "age", "workclass", "fnlwgt", "education", "education_num", "marital_status", "occupation",
        "relationship", "race", "sex", "capital_gain", "capital_loss", "hours_per_week",
        "native_country",
    ),
    categories=(
        "workclass", "education", "marital_status", "occupation", "relationship", "race", "sex",
        "native_country",
    ),
    label="income",
    positive=">50K",
    condition='income == ">50K"',
    kind="ratio",
    bound=0.8,
    groups=(("race", "Black"), ("race", "White"), ("sex", "Female"), ("sex", "Male")),
    grid=(0.72, 0.74, 0.76, 0.78, 0.8),
    small={"num_leaves": 15},
)  # fmt: skip

COMPAS = Problem(
    name="compas",
    features=(
        "sex", "age", "race", "decile_score", "priors_count", "c_charge_degree", "score_text",
    ),
    categories=("sex", "race", "c_charge_degree", "score_text"),
    label="two_year_recid",
    positive="1",
    condition="two_year_recid == 1",
    kind="tpr",
    bound=0.05,
    groups=(
        ("race", "African-American"), ("race", "Caucasian"), ("sex", "Female"), ("sex", "Male"),
    ),
    grid=(0.04, 0.05, 0.06, 0.07, 0.08),
    small={"num_leaves": 6, "learning_rate": 0.05, "min_child_samples": 30},
)  # fmt: skip

PROBLEMS = {problem.name: problem for problem in (ADULT, COMPAS)}
FLOOR = 0.8
FLOORS = (0.78, 0.79, 0.8, 0.81, 0.82)
COMPARISONS = ("adult", "compas", "recall")
PEERS = ("fairlearn", "fairlearn-small", "fairlearn-stock", "fairlearn-crossed")


def propublica_keeps(row):
    """The rows that ProPublica's analysis keeps."""
    days = row["days_b_screening_arrest"]
    return (
        days != ""
        and -30 <= float(days) <= 30
        and row["is_recid"] != "-1"
        and row["c_charge_degree"] != "O"
        and row["score_text"] not in ("", "N/A")
    )


def write_splits(fairgame, problem, seeds, folder):
    """Export the dataset and write one training and one test file for each seed."""
    paths = {
        seed: tuple(folder / f"{problem.name}-{seed}-{part}.csv" for part in ("train", "test"))
        for seed in seeds
    }
    if all(path.exists() for pair in paths.values() for path in pair):
        return paths
    raw = folder / problem.name
    subprocess.run([fairgame, "data", "export", problem.name, raw], check=True, capture_output=True)
    rows = []
    for path in sorted(raw.glob("*.csv")):
        with open(path, newline="") as file:
            rows += csv.DictReader(file)
    if problem is COMPAS:
        rows = [row for row in rows if propublica_keeps(row)]
    for seed, pair in paths.items():
        shuffled = rows[:]
        random.Random(seed).shuffle(shuffled)
        cut = len(shuffled) * 2 // 3
        for path, part in zip(pair, (shuffled[:cut], shuffled[cut:])):
            with open(path, "w", newline="") as file:
                columns = [*problem.features, problem.label]
                writer = csv.DictWriter(file, columns, extrasaction="ignore")
                writer.writeheader()
                writer.writerows(part)
    return paths


# ---------------------------------------------------------------- measures


def rate(chances, where):
    """Mean chance of a positive decision over the rows where `where` is true."""
    chosen = [chance for chance, here in zip(chances, where) if here]
    return sum(chosen) / len(chosen)


def measure(problem, path, chances):
    """What `measure_rows` says of the rows of a file."""
    with open(path, newline="") as file:
        return measure_rows(problem, list(csv.DictReader(file)), chances)


def measure_rows(problem, rows, chances):
    """Error, worst violation, recall and false-positive rate on rows, as dicts of texts.

    `chances` has each row's probability of a positive decision, so all are expected values.
    """
    assert len(rows) == len(chances), f"{len(chances)} predictions for {len(rows)} rows"
    label = [row[problem.label] == problem.positive for row in rows]
    losses = []
    for column, value in problem.groups:
        inside = [row[column] == value for row in rows]
        if problem.kind == "ratio":
            overall = rate(chances, [True] * len(rows))
            losses.append(problem.bound * overall - rate(chances, inside))
        else:
            both = [here and positive for here, positive in zip(inside, label)]
            losses.append(rate(chances, both) - rate(chances, label) - problem.bound)
    wrong = (1 - chance if positive else chance for chance, positive in zip(chances, label))
    return {
        "error": sum(wrong) / len(rows),
        "violation": max(losses),
        "losses": losses,
        "recall": rate(chances, label),
        "fpr": rate(chances, [not positive for positive in label]),
        "drawn": sum(0 < chance < 1 for chance in chances) / len(rows),
    }


def run(command, scratch):
    """Run a command as a process of its own; return exit code, CPU seconds and peak MB."""
    out, err, usage = (scratch / name for name in ("stdout", "stderr", "usage"))
    launcher = [sys.executable, "-I", "-S", "-c", LAUNCHER]
    subprocess.run(
        [*map(str, [*launcher, out, err, usage, *command])],
        check=True,
        env=os.environ | ONE_THREAD,
    )
    return json.loads(usage.read_text()) | {"out": out.read_text(), "err": err.read_text()}


# ---------------------------------------------------------------- fairgame


def fairgame_flags(comparison, method):
    """The flags of `fairgame train` for one of our methods."""
    name, _, value = method.partition("@")
    problem = ADULT if comparison == "recall" else PROBLEMS[comparison]
    flags = ["--label", problem.condition, "--model", "trees", "--algorithm", "plug_in"]
    if comparison == "recall":
        return [*flags, "--objective", "fpr()", "--constraint", f"recall() >= {value or FLOOR}"]
    if name != "fairgame-unconstrained":
        for constraint in problem.constraints(float(value) if value else None):
            flags += ["--constraint", constraint]
    if name == "fairgame-blind":
        flags += ["--ignore", "sex", "--ignore", "race"]
    if name == "fairgame-95":
        flags += ["--margin", "95%"]
    return flags


def run_fairgame(fairgame, comparison, method, train, test, scratch):
    model = scratch / "model.safetensors"
    command = [fairgame, "train", train, "--test", test, *fairgame_flags(comparison, method)]
    command += ["--threads", "1", "--json", "-q", "-o", model]
    trained = run(command, scratch)
    if trained["code"] not in (0, 1):
        raise RuntimeError(f"{command} ended with {trained['code']}: {trained['err']}")
    report = json.loads(trained["out"])
    predicted = run([fairgame, "predict", model, test, "-q", "--format", "csv"], scratch)
    if predicted["code"] != 0:
        raise RuntimeError(f"predict ended with {predicted['code']}: {predicted['err']}")
    chances = [float(row["probability"]) for row in csv.DictReader(predicted["out"].splitlines())]
    return chances, {
        "cpu": trained["cpu"] + predicted["cpu"],
        "fit_cpu": trained["cpu"],
        "mb": max(trained["mb"], predicted["mb"]),
        "code": trained["code"],
        "standing": report["standing"],
        "warnings": report["warnings"],
        "their_error": report["test"]["error"],
        "their_losses": [each["value"] for each in report["test"]["constraints"]],
    }


# ---------------------------------------------------------------- methods in Python


def run_python(comparison, method, seed, train, test, scratch):
    answer = scratch / "answer.json"
    answer.unlink(missing_ok=True)
    child = [sys.executable, __file__, "--child", comparison, method, str(seed), train, test, answer]
    used = run(child, scratch)
    if used["code"] != 0:
        raise RuntimeError(f"{method} ended with {used['code']}: {used['err']}")
    found = json.loads(answer.read_text())
    return found.pop("chances"), found | {"cpu": used["cpu"], "mb": used["mb"]}


def child(comparison, method, seed, train, test, answer):
    """Fit one Python method and write each test row's chance of a positive decision."""
    import resource

    problem = ADULT if comparison == "recall" else PROBLEMS[comparison]
    fit = {
        "lightgbm": fit_lightgbm,
        "lightgbm-small": fit_lightgbm,
        "fairlearn": fit_fairlearn,
        "fairlearn-small": fit_fairlearn,
        "fairlearn-stock": fit_fairlearn,
        "fairlearn-crossed": fit_fairlearn,
        "histgb": fit_histgb,
    }[method](problem, method, int(seed))

    features, labels = encoded(problem, train, test)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    start = time.process_time()
    predict, note = fit(features[0], labels[0])
    fit_cpu = time.process_time() - start
    chances = [float(chance) for chance in predict(features[1])]
    Path(answer).write_text(
        json.dumps({"chances": chances, "fit_cpu": fit_cpu, "before_mb": before} | note)
    )


def encoded(problem, train, test):
    """The features of two files as frames, with categories as the first file has them; and their labels."""
    import pandas as pd

    frames = [pd.read_csv(path, keep_default_na=False, na_values=[""]) for path in (train, test)]
    labels = [(frame[problem.label].astype(str) == problem.positive).astype(int) for frame in frames]
    for column in problem.categories:
        known = pd.CategoricalDtype(sorted(frames[0][column].dropna().unique()))
        for frame in frames:
            frame[column] = frame[column].astype(known)
    return [frame[list(problem.features)] for frame in frames], labels


def lightgbm_classifier(problem, method):
    """LightGBM with its defaults or, if the method ends in -small, with the tree size of fairgame."""
    from lightgbm import LGBMClassifier

    size = problem.small if method.endswith("-small") else {}
    return LGBMClassifier(n_jobs=1, verbose=-1, **size)


def fit_lightgbm(problem, method, seed):
    classifier = lightgbm_classifier(problem, method)

    def fit(features, label):
        classifier.fit(features, label)
        return classifier.predict, {}

    return fit


def fit_fairlearn(problem, method, seed):
    import numpy as np
    import pandas as pd
    from fairlearn.reductions import (
        ClassificationMoment,
        DemographicParity,
        ErrorRate,
        ExponentiatedGradient,
        TruePositiveRateParity,
    )

    class GroupRates(ClassificationMoment):
        """The problem's constraints, exactly: one for each group, and groups may overlap.

        gamma = -U'h/n <= bound, as in fairlearn's UtilityParity.
        """

        short_name = "GroupRates"

        def load_data(self, X, y, *, sensitive_features):
            super().load_data(X, y)
            positive = y.to_numpy() == 1
            columns = {}
            for column, value in problem.groups:
                inside = (sensitive_features[column] == value).to_numpy()
                if problem.kind == "ratio":
                    weights = inside / inside.mean() - problem.bound
                else:
                    both = inside & positive
                    weights = positive / positive.mean() - both / both.mean()
                columns[f"{column}={value}"] = weights
            self.U = pd.DataFrame(columns)

        @property
        def index(self):
            return self.U.columns

        def default_objective(self):
            return ErrorRate()

        def gamma(self, predictor):
            return -self.U.T.dot(np.squeeze(predictor(self.X))) / self.total_samples

        def bound(self):
            return pd.Series(0.0 if problem.kind == "ratio" else problem.bound, self.index)

        def project_lambda(self, lambda_vec):
            return lambda_vec

        def signed_weights(self, lambda_vec):
            return self.U.dot(lambda_vec)

    if method in ("fairlearn", "fairlearn-small"):
        constraints = GroupRates()
    elif problem.kind == "ratio":
        constraints = DemographicParity(ratio_bound=problem.bound)
    else:
        constraints = TruePositiveRateParity(difference_bound=problem.bound)
    estimator = ExponentiatedGradient(lightgbm_classifier(problem, method), constraints)

    def fit(features, label):
        sensitive = features[["sex", "race"]].astype(str)
        if method in ("fairlearn-stock", "fairlearn-crossed"):
            named = [value for column, value in problem.groups if column == "race"]
            sensitive["race"] = sensitive["race"].where(sensitive["race"].isin(named), "other")
        if method == "fairlearn-stock":
            sensitive = sensitive["sex" if problem.kind == "ratio" else "race"]
        estimator.fit(features, label, sensitive_features=sensitive)
        note = {
            "fits": int(estimator.n_oracle_calls_),
            "gap": float(estimator.best_gap_),
            "nu": float(estimator.nu),
        }
        return lambda rows: estimator._pmf_predict(rows)[:, 1], note

    return fit


def fit_histgb(problem, method, seed):
    import numpy as np
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    classifier = HistGradientBoostingClassifier(random_state=seed)

    def fit(features, label):
        folds = StratifiedKFold(5, shuffle=True, random_state=seed)
        scores = cross_val_predict(
            classifier, features, label, cv=folds, method="predict_proba", n_jobs=1
        )[:, 1]
        positives = np.sort(scores[label.to_numpy() == 1])[::-1]
        threshold = positives[math.ceil(FLOOR * len(positives)) - 1]
        classifier.fit(features, label)
        return lambda rows: classifier.predict_proba(rows)[:, 1] >= threshold, {}

    return fit


# ---------------------------------------------------------------- all runs


def methods(comparison):
    if comparison == "recall":
        return ["fairgame", *(f"fairgame@{floor}" for floor in FLOORS if floor != FLOOR), "histgb"]
    problem = PROBLEMS[comparison]
    grid = [f"fairgame@{bound}" for bound in problem.grid if bound != problem.bound]
    blind = ["fairgame-blind"] if comparison == "adult" else []
    ours = ["fairgame", *blind, "fairgame-95", "fairgame-unconstrained", *grid]
    crossed = ["fairlearn-crossed"] if comparison == "adult" else []
    return [*ours, "lightgbm", "lightgbm-small", *PEERS[:3], *crossed]


def finished(fairgame, out):
    """Results of finished runs; those of another fairgame binary are left out."""
    results = out / "results.jsonl"
    binary = hashlib.sha256(Path(fairgame).read_bytes()).hexdigest()[:12]
    done = {}
    if results.exists():
        for line in results.read_text().splitlines():
            record = json.loads(line)
            if record.get("binary") in (None, binary):
                done[record["comparison"], record["method"], record["seed"]] = record
    return done, results, binary


def run_all(arguments, seeds, out):
    done, results, binary = finished(arguments.fairgame, out)
    scratch = out / "scratch"
    scratch.mkdir(exist_ok=True)
    wanted = [name for name in COMPARISONS if arguments.only in (None, name)]
    todo = [(name, method) for name in wanted for method in methods(name)]
    todo.sort(key=lambda pair: PEERS.index(pair[1]) if pair[1] in PEERS else -1)
    splits = {}
    for comparison, method in todo:
        problem = ADULT if comparison == "recall" else PROBLEMS[comparison]
        if problem.name not in splits:
            splits[problem.name] = write_splits(arguments.fairgame, problem, seeds, scratch)
        for seed in seeds:
            if (comparison, method, seed) in done:
                continue
            train, test = splits[problem.name][seed]
            ours = method.startswith("fairgame")
            if ours:
                chances, found = run_fairgame(
                    arguments.fairgame, comparison, method, train, test, scratch
                )
            else:
                chances, found = run_python(comparison, method, seed, train, test, scratch)
            record = {"comparison": comparison, "method": method, "seed": seed}
            record |= {"binary": binary if ours else None} | found
            record |= measure(problem, test, chances)
            done[comparison, method, seed] = record
            with open(results, "a") as file:
                file.write(json.dumps(record) + "\n")
            print(
                f"{comparison} {method} {seed}: error {record['error']:.4f},"
                f" violation {record['violation']:+.4f}, {record['cpu']:.1f} s",
                flush=True,
            )
    return done


# ---------------------------------------------------------------- the page


class Table:
    """The results, by comparison, method and seed, and what is computed from them."""

    def __init__(self, done, seeds):
        self.done = done
        self.seeds = seeds

    def has(self, comparison, *names):
        return all((comparison, name, seed) in self.done for name in names for seed in self.seeds)

    def each(self, comparison, method, key):
        return [self.done[comparison, method, seed][key] for seed in self.seeds]

    def mean(self, comparison, method, key):
        return statistics.mean(self.each(comparison, method, key))


def standard_error(values):
    return statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan


def number(value, signed=False, digits=4):
    text = f"{value:+.{digits}f}" if signed else f"{value:.{digits}f}"
    return text.replace("0.", ".", 1) if abs(value) < 1 else text


def with_error(values, signed=False):
    return f"{number(statistics.mean(values), signed)} ± {number(standard_error(values))}"


def at_equal(table, comparison, grid, other, across, cost):
    """Our `cost` where our mean `across` equals that of the method `other`.

    `grid` pairs each bound with the name of our method. We interpolate linearly between the two
    bounds whose means are nearest around the other's mean. The standard error is that of
    d_i - s * (x_i - u_i): d_i is the paired difference of costs, x_i and u_i are our and the other's
    `across`, and s is the slope of cost in `across` over the grid. It has the same mean as d_i, and
    includes the noise of the matching.
    """
    points = sorted((table.mean(comparison, name, across), bound, name) for bound, name in grid)
    target = table.mean(comparison, other, across)
    index = min(max(sum(point[0] <= target for point in points) - 1, 0), len(points) - 2)
    low, high = points[index], points[index + 1]
    share = (target - low[0]) / (high[0] - low[0])

    def mixed(key):
        pairs = zip(table.each(comparison, low[2], key), table.each(comparison, high[2], key))
        return [(1 - share) * a + share * b for a, b in pairs]

    first, last = (table.mean(comparison, point[2], cost) for point in (points[0], points[-1]))
    slope = (last - first) / (points[-1][0] - points[0][0])
    costs, matched = mixed(cost), mixed(across)
    differences = [a - b for a, b in zip(costs, table.each(comparison, other, cost))]
    offs = [a - b for a, b in zip(matched, table.each(comparison, other, across))]
    adjusted = [d - slope * off for d, off in zip(differences, offs)]
    return {
        "bound": (1 - share) * low[1] + share * high[1],
        "outside": not 0 <= share <= 1,
        "target": target,
        "costs": costs,
        "matched": matched,
        "differences": differences,
        "difference": statistics.mean(differences),
        "error": standard_error(adjusted),
    }


NAMES = {
    "fairgame": "fairgame, default margin",
    "fairgame-blind": "fairgame, without sex and race as features",
    "fairgame-95": "fairgame, `--margin 95%`",
    "fairgame-unconstrained": "fairgame, no constraints",
    "lightgbm": "LightGBM, no constraints",
    "lightgbm-small": "LightGBM with smaller trees, no constraints",
    "fairlearn": "fairlearn + LightGBM, the same constraints",
    "fairlearn-small": "fairlearn + LightGBM with smaller trees, the same constraints",
    "fairlearn-stock": "fairlearn + LightGBM, its own constraint on one column",
    "fairlearn-crossed": "fairlearn + LightGBM, its own constraint on sex and race crossed",
    "histgb": "HistGradientBoosting, tuned threshold",
}


def bounds_of(comparison):
    if comparison == "recall":
        return [(f, "fairgame" if f == FLOOR else f"fairgame@{f}") for f in FLOORS]
    problem = PROBLEMS[comparison]
    return [
        (b, "fairgame" if b == problem.bound else f"fairgame@{b}") for b in problem.grid
    ]


def rows_to_markdown(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return lines + [""]


def fair_section(table, comparison, title, intro):
    lines = [f"## {title}", "", *intro, ""]
    names = [name for name in NAMES if table.has(comparison, name)]
    rows = []
    for name in names:
        violations = table.each(comparison, name, "violation")
        broken = sum(value > 0 for value in violations)
        rows.append([
            NAMES[name],
            with_error(table.each(comparison, name, "error")),
            with_error(violations, signed=True),
            f"{broken} of {len(violations)}",
            f"{table.mean(comparison, name, 'fit_cpu'):.2f}",
            f"{table.mean(comparison, name, 'cpu'):.2f}",
            f"{table.mean(comparison, name, 'mb'):.0f}",
        ])  # fmt: skip
    header = [
        "method", "test error", "worst violation", "splits violated", "CPU s to fit",
        "CPU s of the process", "peak MB",
    ]  # fmt: skip
    lines += rows_to_markdown(header, rows)
    if table.has(comparison, "fairgame", "fairlearn"):
        ratios = [
            table.mean(comparison, "fairlearn", key) / table.mean(comparison, "fairgame", key)
            for key in ("fit_cpu", "cpu", "mb")
        ]
        before = table.mean(comparison, "fairlearn", "before_mb")
        lines += [
            f"With the same constraints, fairlearn takes {ratios[0]:.1f} times the CPU time of fairgame to"
            f" fit, {ratios[1]:.1f} times for the whole process, and {ratios[2]:.1f} times the memory."
            f" Python, its imports and the data take {before:.0f} MB of that memory before it fits.",
            "",
        ]
    grid = bounds_of(comparison)
    if table.has(comparison, "fairlearn", *(name for _, name in grid)):
        lines += equal_section(table, comparison, grid)
    if table.has(comparison, "fairgame", "fairlearn"):
        lines += ["### Every split", ""]
        shown = [
            name for name in names if name in ("fairgame", "lightgbm", *PEERS)
        ]
        header = ["seed", *(f"{NAMES[name]}: error, violation" for name in shown)]
        rows = []
        for index, seed in enumerate(table.seeds):
            row = [str(seed)]
            for name in shown:
                error, violation = (
                    table.each(comparison, name, key)[index] for key in ("error", "violation")
                )
                row.append(f"{number(error)}, {number(violation, True)}")
            rows.append(row)
        lines += rows_to_markdown(header, rows)
    return lines


def equal_section(table, comparison, grid):
    lines = ["### At equal violation", ""]
    word = "ratio" if comparison == "adult" else "slack"
    lines += [
        f"We train fairgame with several bounds (the {word} in the constraint) and measure the"
        " violation of the original constraints.",
        "",
    ]
    rows = [
        [
            str(bound),
            with_error(table.each(comparison, name, "error")),
            with_error(table.each(comparison, name, "violation"), signed=True),
        ]
        for bound, name in grid
    ]
    lines += rows_to_markdown(["bound", "test error", "worst violation"], rows)
    rows = []
    for other in PEERS:
        if table.has(comparison, other):
            found = at_equal(table, comparison, grid, other, "violation", "error")
            if found["outside"]:
                outside = "not compared: outside the violations of our bounds"
                rows.append([NAMES[other], number(found["target"], True), outside, *["–"] * 4])
                continue
            rows.append([
                NAMES[other],
                number(found["target"], True),
                number(found["bound"]),
                number(statistics.mean(found["costs"])),
                number(table.mean(comparison, other, "error")),
                f"{number(found['difference'], True)} ± {number(2 * found['error'])}",
                ", ".join(number(d, True) for d in found["differences"]),
            ])  # fmt: skip
    header = [
        "fairgame beside", "mean worst violation of both", "our bound there", "our error",
        "its error", "difference ± two standard errors", "difference in each split",
    ]  # fmt: skip
    return lines + rows_to_markdown(header, rows)


def recall_section(table):
    comparison = "recall"
    lines = [
        "## Recall floor on Adult",
        "",
        "Minimise the false-positive rate with a recall of at least 0.8. `fairgame` is trained with"
        " `--objective 'fpr()' --constraint 'recall() >= 0.8'`. scikit-learn's"
        " `HistGradientBoostingClassifier` has default settings and the highest threshold with an"
        " out-of-fold recall (five folds) of at least 0.8; it is then refitted on all training rows.",
        "",
    ]
    rows = []
    for name in ("fairgame", "histgb"):
        if table.has(comparison, name):
            recalls = table.each(comparison, name, "recall")
            rows.append([
                NAMES[name],
                with_error(recalls),
                f"{sum(value < FLOOR for value in recalls)} of {len(recalls)}",
                with_error(table.each(comparison, name, "fpr")),
                f"{table.mean(comparison, name, 'fit_cpu'):.2f}",
                f"{table.mean(comparison, name, 'cpu'):.2f}",
                f"{table.mean(comparison, name, 'mb'):.0f}",
            ])  # fmt: skip
    header = [
        "method", "test recall", "splits below 0.8", "test false-positive rate", "CPU s to fit",
        "CPU s of the process", "peak MB",
    ]  # fmt: skip
    lines += rows_to_markdown(header, rows)
    grid = bounds_of(comparison)
    if not table.has(comparison, "histgb", *(name for _, name in grid)):
        return lines
    lines += ["### At equal recall", ""]
    rows = [
        [
            str(bound),
            with_error(table.each(comparison, name, "recall")),
            with_error(table.each(comparison, name, "fpr")),
        ]
        for bound, name in grid
    ]
    lines += rows_to_markdown(["floor", "test recall", "test false-positive rate"], rows)
    found = at_equal(table, comparison, grid, "histgb", "recall", "fpr")
    place = "outside our grid, so this is extrapolated" if found["outside"] else "by interpolation"
    lines += [
        f"At the mean recall of HistGradientBoosting, {number(found['target'])} ({place}), our"
        f" false-positive rate is {number(statistics.mean(found['costs']))}; its rate is"
        f" {number(table.mean(comparison, 'histgb', 'fpr'))}. The difference is"
        f" {number(found['difference'], True)} ± {number(2 * found['error'])} (two standard errors).",
        "",
        "### Every split",
        "",
    ]
    rows = []
    for index, seed in enumerate(table.seeds):
        row = [str(seed)]
        for name in ("fairgame", "histgb"):
            recall, fpr = (table.each(comparison, name, key)[index] for key in ("recall", "fpr"))
            row.append(f"{number(recall)}, {number(fpr)}")
        row.append(f"{number(found['matched'][index])}, {number(found['costs'][index])}")
        rows.append(row)
    header = ["seed", *(f"{NAMES[name]}: recall, fpr" for name in ("fairgame", "histgb"))]
    return lines + rows_to_markdown([*header, "fairgame at equal mean recall: recall, fpr"], rows)


def worse_section(table):
    """Every measured mean where fairgame is worse, whether or not the difference is clear."""
    lines = []

    def say(text, difference, error):
        clear = "clear" if difference > 2 * error else "within two standard errors"
        lines.append(f"- {text}: {number(difference, True)} ± {number(2 * error)} ({clear}).")

    def paired(comparison, ours, other, key, sign, text):
        if table.has(comparison, ours, other):
            pairs = zip(table.each(comparison, ours, key), table.each(comparison, other, key))
            differences = [sign * (a - b) for a, b in pairs]
            if statistics.mean(differences) > 0:
                say(text, statistics.mean(differences), standard_error(differences))

    for comparison, data in (("adult", "Adult"), ("compas", "COMPAS")):
        for other, words in (
            ("fairlearn", "fairlearn with the same constraints"),
            ("fairlearn-small", "fairlearn with smaller trees and the same constraints"),
            ("fairlearn-stock", "fairlearn with its own constraint on one column"),
            ("fairlearn-crossed", "fairlearn with its own constraint on sex and race crossed"),
        ):
            if not table.has(comparison, "fairgame", other):
                continue
            text = f"{data}: our {{}} at the default margin is above that of {words}"
            ours, theirs = (
                number(table.mean(comparison, name, "violation"), True)
                for name in ("fairgame", other)
            )
            seen = f" (mean worst violation: ours {ours}, its {theirs})"
            paired(comparison, "fairgame", other, "error", 1, text.format("error") + seen)
            paired(comparison, "fairgame", other, "violation", 1, text.format("worst violation"))
        if table.has(comparison, "fairlearn", *(name for _, name in bounds_of(comparison))):
            for other in PEERS:
                if table.has(comparison, other):
                    found = at_equal(
                        table, comparison, bounds_of(comparison), other, "violation", "error"
                    )
                    if found["difference"] > 0 and not found["outside"]:
                        text = f"{data}: at equal violation our error is above that of"
                        say(f"{text} {NAMES[other]}", found["difference"], found["error"])
        for other in ("lightgbm", "lightgbm-small"):
            text = f"{data}: our error without constraints is above that of {NAMES[other]}"
            paired(comparison, "fairgame-unconstrained", other, "error", 1, text)
        for name in ("fairgame", "fairgame-blind", "fairgame-95"):
            if not table.has(comparison, name):
                continue
            violations = table.each(comparison, name, "violation")
            broken = sum(value > 0 for value in violations)
            if broken:
                lines.append(
                    f"- {data}: {NAMES[name]}: a constraint is violated on the test rows of {broken}"
                    f" of {len(violations)} splits, by at most {number(max(violations))}; the mean"
                    f" worst violation is {with_error(violations, signed=True)}."
                )
        if table.has(comparison, "fairgame", "lightgbm"):
            for key, unit in (("fit_cpu", "CPU seconds to fit"), ("mb", "MB of memory")):
                ours, theirs = (
                    table.mean(comparison, name, key) for name in ("fairgame", "lightgbm")
                )
                if ours > theirs:
                    lines.append(
                        f"- {data}: fairgame takes {ours:.2f} {unit}, one LightGBM without"
                        f" constraints {theirs:.2f}."
                    )
    if table.has("recall", "histgb", *(name for _, name in bounds_of("recall"))):
        found = at_equal(table, "recall", bounds_of("recall"), "histgb", "recall", "fpr")
        if found["difference"] > 0:
            say(
                "Recall floor: at equal recall our false-positive rate is above that of"
                " HistGradientBoosting", found["difference"], found["error"],
            )  # fmt: skip
        paired(
            "recall", "fairgame", "histgb", "fpr", 1,
            "Recall floor: our false-positive rate at the default margin is above that of"
            " HistGradientBoosting, which keeps no margin",
        )  # fmt: skip
        paired(
            "recall", "fairgame", "histgb", "fit_cpu", 1,
            "Recall floor: fairgame takes more CPU seconds than HistGradientBoosting",
        )  # fmt: skip
        recalls = table.each("recall", "fairgame", "recall")
        below = sum(value < FLOOR for value in recalls)
        if below:
            lines.append(
                f"- Recall floor: our recall is below 0.8 on the test rows of {below} of"
                f" {len(recalls)} splits; the lowest is {number(min(recalls))}."
            )
    return ["## Where fairgame is worse", "", *(lines or ["- Nowhere in these tables."]), ""]


def write_page(table, seeds, path, fairgame):
    ours = subprocess.run([fairgame, "--version"], capture_output=True, text=True).stdout.strip()
    peers = ", ".join(f"{name} {version(name)}" for name in ("fairlearn", "lightgbm", "scikit-learn"))
    lines = [
        "# Comparison with fairlearn, LightGBM and scikit-learn",
        "",
        "This command makes the page and all of its numbers:",
        "",
        f"    python python/benchmarks/compare.py --fairgame target/release/fairgame --seeds {seeds[0]}-{seeds[-1]} --out comparison",
        "",
        f"Versions: {ours}, {peers}.",
        "",
        "[wrapped.md](wrapped.md) compares fairgame around LightGBM with fairlearn around the same LightGBM.",
        "",
        f"There are {len(seeds)} random splits: two thirds of the rows train, one third tests. All"
        " methods see the same rows and the same raw columns. fairgame is `fairgame train --model"
        " trees --algorithm plug_in` with its defaults. LightGBM has its default settings (100 trees)"
        " and takes categories and missing values natively. Each method runs as a process of its own"
        " on one thread.",
        "",
        "- **Test error** and **worst violation** are computed by one function for all methods, from"
        " each row's probability of a positive decision. They are expected values over the draws of"
        " a randomised classifier. The worst violation is the largest loss of any constraint on the"
        " test rows; the constraints are met if it is at most 0.",
        "- **±** is one standard error over the splits, unless the column says two. The splits"
        " share rows, so standard errors are somewhat too small.",
        "- **CPU s to fit** is the CPU time of `fit` in Python. For fairgame it is that of the whole"
        " `fairgame train`, which also reads the files and tests. **CPU s of the process** adds imports,"
        " reading and prediction.",
        "- **fairlearn** is `ExponentiatedGradient` with its default settings around LightGBM. Its own"
        " constraints take one sensitive feature with disjoint groups, and our four groups overlap."
        " So we wrote a `Moment` for it with exactly our four constraints: \"the same constraints\"."
        " The other rows use constraints that it ships, as the text of each section says.",
        "- **Smaller trees** have the size that fairgame grows: 15 leaves on Adult; 6 leaves, learning"
        " rate 0.05 and at least 30 rows a leaf on COMPAS. LightGBM's defaults overfit small data.",
        "- **At equal violation** we interpolate linearly between two of our bounds until our mean"
        " violation equals the other's. A random choice between the two classifiers has this error"
        " and at most this violation. The standard errors include the noise of the matching. The bound"
        " is chosen on the test rows, so this compares two methods and is no way to choose a bound.",
        "",
    ]
    if table.has("adult", "fairgame"):
        lines += fair_section(table, "adult", "Adult, 80 % rule", [
            "14 raw columns, 48,842 rows. The positive rate of women, of men, of Black people and of"
            " white people must each be at least 0.8 times the overall positive rate. fairlearn's own"
            " constraint is `DemographicParity(ratio_bound=0.8)`. On the column sex it leaves race out. On sex"
            " and race crossed (Black, White, other) it has six disjoint groups, which is stricter.",
        ])  # fmt: skip
    if table.has("compas", "fairgame"):
        lines += fair_section(table, "compas", "COMPAS, true-positive rates", [
            "7 raw columns (sex, age, race, decile score, priors, charge degree, score text) and the"
            " 6,172 rows of ProPublica's analysis. The true-positive rate of women, of men, of"
            " African-American and of Caucasian defendants must each be at most the overall rate plus"
            " 0.05. fairlearn's own constraint is `TruePositiveRateParity(difference_bound=0.05)` on"
            " race (African-American, Caucasian, other), which bounds both sides and leaves sex out.",
        ])  # fmt: skip
    if table.has("recall", "fairgame"):
        lines += recall_section(table)
    lines += worse_section(table)
    path.write_text("\n".join(lines))


def main():
    if sys.argv[1:2] == ["--child"]:
        return child(*sys.argv[2:])
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--fairgame", default="fairgame", help="path of the fairgame binary")
    parser.add_argument("--seeds", default="8101-8110", help="first and last seed, as A-B")
    parser.add_argument("--out", default="comparison", help="folder of the results and the page")
    parser.add_argument("--only", choices=COMPARISONS, help="run only this comparison")
    parser.add_argument("--page", action="store_true", help="write the page from finished runs only")
    arguments = parser.parse_args()
    found = shutil.which(arguments.fairgame)
    if found is None:
        parser.error(f"no program `{arguments.fairgame}`: give its path with --fairgame")
    arguments.fairgame = str(Path(found).resolve())
    first, _, last = arguments.seeds.partition("-")
    seeds = list(range(int(first), int(last or first) + 1))
    out = Path(arguments.out)
    out.mkdir(parents=True, exist_ok=True)
    if arguments.page:
        done, _, _ = finished(arguments.fairgame, out)
    else:
        done = run_all(arguments, seeds, out)
    write_page(Table(done, seeds), seeds, out / "compare.md", arguments.fairgame)


if __name__ == "__main__":
    main()
