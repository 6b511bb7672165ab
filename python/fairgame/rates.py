"""Rates, groups and constraints built in Python. Each prints as its text in the language.

>>> from fairgame import rates
>>> rates.tpr('race == "Black"') <= rates.tpr() + 0.05
tpr(race == "Black") <= tpr() + 0.05
>>> rates.positive_rate(rates.each("sex")) >= 0.8 * rates.positive_rate()
positive_rate(each sex) >= 0.8 * positive_rate()
>>> young = rates.column("age") < 30
>>> rates.fpr(young & (rates.column("race") == "Black")).within(0.02, of=rates.fpr())
fpr(age < 30 and race == "Black") == fpr() within 0.02
"""

from __future__ import annotations

import numbers
import re
from collections.abc import Callable, Iterable
from typing import Any

_KEYWORDS = {"and", "or", "not", "in", "each", "where", "within", "true", "false", "median", "quantile"}


class _Text:
    """An expression, known by its text in the language."""

    def __init__(self, text: str, binds: int = 3):
        # The precedence of the outermost operator. 1: `or`, sum; 2: `and`, product; 3: what binds more tightly.
        self._text, self._binds = text, binds

    def _within(self, binds: int) -> str:
        """The text as an operand of an operator of this precedence: in parentheses if it binds less tightly."""
        return self._text if self._binds >= binds else f"({self._text})"

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__

    def __hash__(self) -> int:
        return hash(self._text)


class Group(_Text):
    """A condition on rows. Conditions are combined with `&`, `|` and `~`."""

    def __and__(self, other: Group) -> Group:
        return Group(f"{self._within(2)} and {_group(other)._within(2)}", 2)

    def __or__(self, other: Group) -> Group:
        return Group(f"{self._within(1)} or {_group(other)._within(1)}", 1)

    def __invert__(self) -> Group:
        return Group(f"not {self._within(3)}", 3)

    def __bool__(self) -> bool:
        raise TypeError("join groups with &, | and ~, not with and, or and not; write a range as two groups joined by &")


class Column(Group):
    """A column. Comparing it gives a group; by itself it is the group of rows where it is true."""

    def __init__(self, name: str):
        super().__init__(_column(name))

    def __eq__(self, value: Any) -> Group:  # type: ignore[override]
        return Group(f"{self} == {_value(value)}")

    def __ne__(self, value: Any) -> Group:  # type: ignore[override]
        return Group(f"{self} != {_value(value)}")

    def __lt__(self, value: Any) -> Group:
        return Group(f"{self} < {_value(value)}")

    def __le__(self, value: Any) -> Group:
        return Group(f"{self} <= {_value(value)}")

    def __gt__(self, value: Any) -> Group:
        return Group(f"{self} > {_value(value)}")

    def __ge__(self, value: Any) -> Group:
        return Group(f"{self} >= {_value(value)}")

    __hash__ = _Text.__hash__

    def isin(self, values: Iterable[Any]) -> Group:
        """The group of rows whose value is one of these."""
        return Group(f"{self} in [{', '.join(map(_value, values))}]")

    def median(self) -> Quantile:
        """The median over the training rows, to compare with."""
        return Quantile(f"median({self})")

    def quantile(self, level: float) -> Quantile:
        """A quantile over the training rows, to compare with."""
        return Quantile(f"quantile({self}, {_number(level)})")


def _group(group: Any) -> Group:
    if isinstance(group, Group):
        return group
    raise TypeError(f"{group!r} is no group: compare a column, as in rates.column('age') < 30")


class Quantile(_Text):
    """A number that is computed from the training rows."""


def column(name: str) -> Column:
    """A column by its name, which may contain any characters.

    >>> column("hours per week") > 40
    `hours per week` > 40
    """
    return Column(name)


def each(*names: str, where: Group | str | None = None) -> Group:
    """One group per value of a column, or per combination of values of several columns.

    >>> positive_rate(each("sex", "race", where=column("age") >= 18))
    positive_rate(each [sex, race] where age >= 18)
    """
    if not names:
        raise ValueError("each needs the name of a column")
    columns = ", ".join(map(_column, names))
    text = f"each {columns}" if len(names) == 1 else f"each [{columns}]"
    return Group(text if where is None else f"{text} where {where}")


class Constraint(_Text):
    """A constraint on rates."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constraint) and self._text == other._text

    __hash__ = _Text.__hash__

    def __bool__(self) -> bool:
        # `a <= b <= c` would silently be `b <= c`.
        raise TypeError("write a chain of comparisons as text, or as two constraints")


class Rate(_Text):
    """An expression of rates and numbers. Comparing it gives a constraint."""

    def __add__(self, other: Rate | float) -> Rate:
        return Rate(f"{self._within(1)} + {_term(other, 2)}", 1)

    def __radd__(self, other: float) -> Rate:
        return Rate(f"{_number(other)} + {self._within(2)}", 1)

    def __sub__(self, other: Rate | float) -> Rate:
        return Rate(f"{self._within(1)} - {_term(other, 2)}", 1)

    def __rsub__(self, other: float) -> Rate:
        return Rate(f"{_number(other)} - {self._within(2)}", 1)

    def __mul__(self, other: float) -> Rate:
        return Rate(f"{_number(other)} * {self._within(3)}", 2)

    __rmul__ = __mul__

    def __truediv__(self, other: Rate | float) -> Rate:
        return Rate(f"{self._within(2)} / {_term(other, 3)}", 2)

    def __neg__(self) -> Rate:
        return Rate(f"-{self._within(3)}", 2)

    def __le__(self, other: Rate | float) -> Constraint:
        return Constraint(f"{self} <= {_term(other, 1)}")

    def __ge__(self, other: Rate | float) -> Constraint:
        return Constraint(f"{self} >= {_term(other, 1)}")

    def __lt__(self, other: Rate | float) -> Constraint:
        raise TypeError("constraints on rates are not strict: write <=")

    def __gt__(self, other: Rate | float) -> Constraint:
        raise TypeError("constraints on rates are not strict: write >=")

    def __eq__(self, other: object) -> Any:
        raise TypeError("rates are equal within something: write rate.within(0.01, of=other)")

    __hash__ = _Text.__hash__

    def within(self, slack: float, *, of: Rate | float) -> Constraint:
        """The constraint that this rate differs from `of` by at most `slack`."""
        return Constraint(f"{self} == {_term(of, 1)} within {_number(slack)}")


def _term(term: Rate | float, binds: int) -> str:
    return term._within(binds) if isinstance(term, Rate) else _number(term)


def _number(number: Any) -> str:
    if isinstance(number, numbers.Real) and not isinstance(number, bool) and abs(float(number)) < float("inf"):
        return repr(int(number) if isinstance(number, numbers.Integral) else float(number))
    raise TypeError(f"{number!r} is no rate and no finite number")


def _column(name: str) -> str:
    """The name as the language writes it."""
    if re.fullmatch(r"[^\W\d][\w.]*", name) and name not in _KEYWORDS:
        return name
    return "`" + _escaped(name, "`") + "`"


def _value(value: Any) -> str:
    """A value of a column as the language writes it."""
    if isinstance(value, str):
        return '"' + _escaped(value, '"') + '"'
    if isinstance(value, Quantile):
        return str(value)
    if type(value).__name__ in ("bool", "bool_"):
        return "true" if value else "false"
    return _number(value)


def _escaped(text: str, quote: str) -> str:
    return text.replace("\\", "\\\\").replace(quote, "\\" + quote)


def _rate(name: str, meaning: str) -> Callable[..., Rate]:
    def rate(group: Group | Column | str = "") -> Rate:
        return Rate(f"{name}({group})")

    rate.__name__ = rate.__qualname__ = name
    rate.__doc__ = f"{meaning}, over all rows or in a group: a condition, or `each column`."
    return rate


error = _rate("error", "The share of rows decided wrongly")
accuracy = _rate("accuracy", "The share of rows decided correctly")
positive_rate = _rate("positive_rate", "The share of rows decided positive")
negative_rate = _rate("negative_rate", "The share of rows decided negative")
tpr = _rate("tpr", "The share of positive rows that are decided positive")
recall = _rate("recall", "The share of positive rows that are decided positive")
fnr = _rate("fnr", "The share of positive rows that are decided negative")
fpr = _rate("fpr", "The share of negative rows that are decided positive")
tnr = _rate("tnr", "The share of negative rows that are decided negative")
precision = _rate("precision", "The share of rows decided positive that are positive")
f1 = _rate("f1", "The harmonic mean of precision and recall")


def churn(old: Group | Column | str, group: Group | Column | str = "") -> Rate:
    """The share of rows whose decision differs from `old`, which is a column of earlier decisions or a condition."""
    return Rate(f"churn({old}{f', {group}' if str(group) else ''})")
