"""Every example that a user reads is run."""

import doctest
import pathlib
import runpy
import sys

import matplotlib
import pytest

import fairgame
from fairgame import _adjust, _estimator, _scorer, plot, rates

matplotlib.use("Agg")
ROOT = pathlib.Path(__file__).parents[2]
WANTED = {
    "adult_pipeline": "four-fifths rule: 9769 rows: ",
    "recall_floor": '  recall(group == "coast") >= 0.9: ',
    "from_fairlearn": 'fpr(group == "Other") >= fpr() - 0.05: ',
}


@pytest.mark.parametrize("module", [fairgame, _adjust, _estimator, _scorer, rates, plot], ids=lambda module: module.__name__)
def test_docstrings(module):
    failed, tried = doctest.testmod(module)
    assert failed == 0
    assert tried > 0 or module is plot


@pytest.mark.parametrize("script", sorted((ROOT / "python/examples").glob("*.py")), ids=lambda path: path.stem)
def test_examples(script, capsys, monkeypatch):
    # Without fairlearn, which the tests do not install, and without what it costs where it is.
    monkeypatch.setitem(sys.modules, "fairlearn.reductions", None)
    runpy.run_path(str(script), run_name="__main__")
    printed = capsys.readouterr().out
    assert WANTED[script.stem] in printed


def test_the_readme():
    """Its lines of Python, with the names they are about."""
    block = (ROOT / "README.md").read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    people = fairgame.dataset("adult")
    X, y = people.drop(columns=["income", "fnlwgt", "sex"]), people["income"]
    names = {"people": people[:20000], "X": X[:20000], "y": y[:20000], "new": X[20000:]}
    names |= {"test": people[20000:], "X_test": X[20000:], "y_test": y[20000:]}
    exec(block, names)
    assert names["model"].evaluations_["val"].worst <= 1e-6


def test_the_guide():
    """The examples of docs/python.md, one after another."""
    failed, tried = doctest.testfile(str(ROOT / "docs/python.md"), module_relative=False)
    assert failed == 0 and tried > 10
