"""Arrays whose numbers do not lie side by side: packed records, reversed and broadcast columns."""

import numpy as np

from fairgame._table import table


def numbers(rows, name):
    return rows.column(name)[0].tolist()


def test_fields_of_packed_records():
    people = np.array([("alice", 1.5), ("bob", 2.5), ("carol", 3.5)], dtype=[("name", "U5"), ("x", "f8")])
    people = np.concatenate([people, people])
    odd = np.zeros(3, dtype=[("flag", "i1"), ("x", "f8")])
    odd["x"] = [7.5, -1.0, np.nan]
    assert numbers(table({"x": people["x"]}), "x") == [1.5, 2.5, 3.5, 1.5, 2.5, 3.5]
    assert numbers(table({"x": odd["x"]}), "x")[:2] == [7.5, -1.0]


def test_runs_of_other_strides():
    X = np.arange(12.0).reshape(4, 3)
    assert numbers(table({"x": X[::-1, 1]}), "x") == [10.0, 7.0, 4.0, 1.0]
    assert numbers(table({"x": np.broadcast_to(2.5, 3)}), "x") == [2.5] * 3


def test_packed_records_of_plenty_of_rows():
    packed = np.zeros(1_000_000, dtype=[("flag", "i1"), ("x", "f8")])
    packed["x"] = np.arange(1_000_000)
    rows = table({"x": packed["x"], "y": np.arange(1_000_000.0)[::-1]})
    assert np.array_equal(rows.column("x")[0], np.arange(1_000_000.0))
    assert rows.take(np.array([3, 999_999], dtype=np.uint32)).column("y")[0].tolist() == [999_996.0, 0.0]
    assert rows.columns == [("x", "number"), ("y", "number")]
