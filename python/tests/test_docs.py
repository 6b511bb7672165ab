"""Every example that a user reads is run."""

import doctest
import pathlib
import runpy
import sys

import matplotlib
import pytest

import fairgame
from fairgame import _estimator, plot, rates

matplotlib.use("Agg")
ROOT = pathlib.Path(__file__).parents[2]


@pytest.mark.parametrize("module", [fairgame, _estimator, rates, plot], ids=lambda module: module.__name__)
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
    assert "at a confidence of 95 %" in printed or "recall" in printed


def test_the_guide():
    """The examples of docs/python.md, one after another."""
    failed, tried = doctest.testfile(str(ROOT / "docs/python.md"), module_relative=False)
    assert failed == 0 and tried > 10
