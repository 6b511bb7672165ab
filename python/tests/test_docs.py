"""Every example that a user reads is run, and every link leads somewhere."""

import doctest
import pathlib
import re
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


def test_the_readme(tmp_path, monkeypatch):
    """Its lines of Python, on the CSV files that they read: Adult, with the names of the example."""
    block = (ROOT / "README.md").read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    people = fairgame.dataset("adult").drop(columns="fnlwgt").rename(columns={"income": "hired"})
    people["hired"] = people["hired"].astype(str).map({"<=50K": "no", ">50K": "yes"})
    people[:20000].to_csv(tmp_path / "people.csv", index=False)
    people[20000:].to_csv(tmp_path / "new.csv", index=False)
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(block, names)
    assert names["model"].standing_ == "promised"
    assert len(names["decisions"]) == 12561
    assert names["found"].verdict in {"met", "undecided"}


def test_the_guide():
    """The examples of docs/python.md, one after another."""
    failed, tried = doctest.testfile(str(ROOT / "docs/python.md"), module_relative=False)
    assert failed == 0 and tried > 10


def anchors(text):
    """The anchors of a page's headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    for heading in re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE):
        heading = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        yield re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")


PAGES = [ROOT / f"{name}.md" for name in ("README", "ARCHITECTURE", "CHANGELOG", "CONTRIBUTING")]


@pytest.mark.parametrize("page", PAGES + sorted((ROOT / "docs").rglob("*.md")), ids=lambda page: page.stem)
def test_links(page):
    """Files that a page links to are there, and so are the headings."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if link.startswith("http"):
            continue
        file, _, anchor = link.partition("#")
        target = page.parent / file if file else page
        assert target.exists(), link
        if anchor:
            assert anchor in set(anchors(target.read_text(encoding="utf-8"))), link
