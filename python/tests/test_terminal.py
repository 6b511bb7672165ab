"""Names and values from outside cannot drive a terminal, whichever message they are in."""

import numpy as np
import pytest

import fairgame
from fairgame._layout import Layout

NASTY = "\x1b]0;X\x07\x1b[31m\u202ez"
SHOWN = r"\u{1b}]0;X\u{7}\u{1b}[31m\u{202e}z"


def test_errors_show_what_is_hidden(tmp_path):
    def message(call, *arguments, **named):
        with pytest.raises((ValueError, OSError)) as raised:
            call(*arguments, **named)
        return str(raised.value)

    infinite = {NASTY: np.array([np.inf])}
    rows = {NASTY: np.array([1.0, 2.0]), "able": np.array([True, False])}
    described = {"label": "hired", "label_columns": ["hired"], "labels": ["no", "yes"]}
    path = tmp_path / "rows.csv"
    path.write_text(f'"{NASTY}","{NASTY}"\n1,2\n')
    for text in (
        message(fairgame.read, path),
        message(fairgame.read, tmp_path / NASTY),
        message(fairgame.audit, infinite, [True], label="able", constraints=[]),
        message(fairgame.audit, rows, [True, False], label="b", constraints=[]),
        message(fairgame.audit, rows, [True, False], label=f'able == "{NASTY}"', constraints=[]),
        message(Layout.of_file(described).rows, {"a": [1.0, 2.0]}, [NASTY, "no"], None),
    ):
        assert "\x1b" not in text and "\x07" not in text and "\u202e" not in text
        assert SHOWN in text


def test_a_chance_may_be_beyond_1_by_rounding():
    able = np.array([True, False] * 10)
    more = np.where(able, 1.0000000000000002, -1e-17)
    audits = [fairgame.audit({"able": able}, p, label="able", constraints=["tpr() >= 0.5"]) for p in (able, more)]
    assert audits[0].constraints == audits[1].constraints
    with pytest.raises(ValueError, match="not between 0 and 1"):
        fairgame.audit({"able": able}, np.where(able, 1.01, 0), label="able", constraints=[])


def test_an_evaluation_prints_what_is_hidden():
    rows = {NASTY: np.array(["f", "m"] * 50), "able": np.array([True, True, False, False] * 25)}
    found = fairgame.audit(rows, rows["able"], label="able", constraints=[f"tpr(each `{NASTY}`) >= 0.5"])
    assert "\x1b" not in repr(found) and SHOWN in repr(found)
    # As data it stays what it is.
    assert "\u202e" in found.constraints[0]["name"]
