"""What the columns of a classifier's data are, and how X, y and sensitive_features become one table of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from ._arguments import labels, two_classes
from ._fairgame import Table, shown
from ._table import back, column, groups, is_frame, same, table
from .rates import _column, _value


@dataclass(frozen=True, eq=False)
class Layout:
    """The columns that a classifier was trained on.

    `fit` makes one from its arguments, and loading makes one from the model file; it never changes.
    """

    label: str
    """The condition that makes a row positive, in the language of constraints."""
    label_column: str | None
    """The column that holds y; None if the condition is about several columns."""
    classes: np.ndarray | None
    """The negative label and the positive one; None for a file that does not say what they are called."""
    columns: tuple[str, ...] = ()
    """The columns of X in the order of `fit`; empty for a file of our own models, which finds columns by name only."""
    named: bool = True
    """Whether columns are found by name; if not, by position, since `fit` saw an array."""
    groups: tuple[str, ...] = ()
    """The columns of `sensitive_features` that X does not have, which are no features."""

    @classmethod
    def fitted(cls, X: Any, y: Any, sensitive_features: Any) -> tuple[Layout, Table]:
        """The layout of the arguments of `fit`, and their rows in it."""
        name, rows = getattr(y, "name", None), table(X)
        y, more = labels(y, rows.rows), groups(sensitive_features, rows)
        classes = two_classes(y)
        columns, group_columns = tuple(one for one, _ in rows.columns), tuple(one for one, _ in more)
        label_column = name if isinstance(name, str) and name else unused("label", columns + group_columns)
        positive = classes.tolist()[1]
        label = _column(label_column) if positive is True else _condition(label_column, positive)
        layout = cls(label, label_column, classes, columns, is_frame(X), group_columns)
        return layout, layout._joined(rows, more, y)

    @classmethod
    def elsewhere(cls, label_column: str, found: list[Any], columns: tuple[str, ...]) -> Layout:
        """The layout of rows that a cluster has, of which these labels were found."""
        if len(found) != 2:
            shown_labels = shown(", ".join(map(str, found[:5])))
            raise ValueError(f"y has {len(found)} labels, and two are needed: {shown_labels}")
        classes = two_classes(np.array(found))
        positive = classes.tolist()[1]
        label = _column(label_column) if positive is True else _condition(label_column, positive)
        return cls(label, label_column, classes, columns)

    @classmethod
    def of_file(cls, described: dict[str, Any], classes: Iterable[Any] | None = None) -> Layout:
        """The layout that a model file describes. `classes` replace the labels that it names."""
        label, columns = described["label"], described["label_columns"]
        label_column = columns[0] if len(columns) == 1 else None
        # Estimators of another library need the columns that they were fitted on; our own models find theirs by name.
        beside = described.get("companion") or {"features": (), "named": True}
        fitted = (tuple(beside["features"]), beside["named"])
        two = described["labels"] if classes is None else list(classes)
        if two is None:
            return cls(label, label_column, None, *fitted)
        if len(two) != 2:
            raise ValueError("classes are two labels: the negative one, then the positive one")
        layout = cls(label, label_column, np.array(two), *fitted)
        if label_column is not None and label == _condition(label_column, layout.classes.tolist()[0]):
            raise ValueError(f"a row is positive where `{shown(label)}`: the positive label is the second of classes")
        return layout

    @property
    def weight_column(self) -> str:
        """A name for the column of weights that no other column has."""
        return unused("weight", (*self.columns, *self.groups, self.label_column))

    @property
    def unit_column(self) -> str:
        """A name for the column of units that no other column has."""
        return unused("unit", (*self.columns, *self.groups, self.label_column, self.weight_column))

    def features(self, X: Any) -> Table:
        """X with the column names of `fit`."""
        if not is_frame(X):
            return table(X, self.columns)
        rows = table(X)
        if self.named or len(rows.columns) != len(self.columns):
            return rows
        return Table.from_columns([(new, back(rows, name)) for new, (name, _) in zip(self.columns, rows.columns)])

    def rows(self, X: Any, y: Any, sensitive_features: Any) -> Table:
        """X, y and the groups as one table."""
        if self.label_column is None:
            raise ValueError(f"the label `{shown(self.label)}` is of several columns: use fairgame.evaluate")
        rows = self.features(X)
        y = labels(y, rows.rows)
        if self.classes is not None:
            if unknown := set(np.unique(y).tolist()) - set(self.classes.tolist()):
                text = shown(", ".join(sorted(map(str, unknown))))
                negative, positive = (shown(str(one)) for one in self.classes)
                raise ValueError(f"y has labels that training had not: {text}; it had {negative} and {positive}")
            # 1 and True are equal, but a column of numbers is not one of truth values.
            y = self.classes[(y == self.classes[1]).astype(int)]
        return self._joined(rows, groups(sensitive_features, rows), y)

    def weighted(self, rows: Table, weights: np.ndarray | None) -> Table:
        """Rows with their weights as a column."""
        return rows if weights is None else rows.beside(Table.from_columns([(self.weight_column, weights)]))

    def with_units(self, rows: Table, units: Any) -> Table:
        """Rows with the unit of each as a column. A name is that of a column which the rows have already."""
        if isinstance(units, str):
            known = [name for name, _ in rows.columns]
            if units not in known:
                raise ValueError(f"groups is {units!r}, and there is no such column: name one of {known}")
        if units is None or isinstance(units, str):
            return rows
        values = column(column_or_1d(units), "groups")
        length = len(values[0] if isinstance(values, tuple) else values)
        if length != rows.rows:
            raise ValueError(f"groups has {length} values for {rows.rows} rows of X")
        return rows.beside(Table.from_columns([(self.unit_column, values)]))

    def _joined(self, rows: Table, more: list[tuple[str, Any]], y: np.ndarray) -> Table:
        """Features, groups and label side by side. A label that X has already is not added again."""
        name, label = self.label_column, column(y, "y")
        if name not in (known for known, _ in rows.columns):
            more = [*more, (name, label)]
        elif not same(label, back(rows, name)):
            raise ValueError(f"y is called `{shown(name)}`, and so is a column of X that has other values: rename one")
        for name, values in more:
            length = len(values[0] if isinstance(values, tuple) else values)
            if length != rows.rows:
                raise ValueError(f"column `{shown(name)}` has {length} values for {rows.rows} rows of X")
        return rows.beside(Table.from_columns(more)) if more else rows


def unused(name: str, taken: Iterable[str | None]) -> str:
    """The name, with underscores behind it if it is taken."""
    taken = set(taken)
    while name in taken:
        name += "_"
    return name


def _condition(name: str, value: Any) -> str:
    return f"{_column(name)} == {_value(value)}"
