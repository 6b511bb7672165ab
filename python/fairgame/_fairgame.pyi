"""The library, as compiled."""

from collections.abc import Callable
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

__version__: str

class Table:
    """Named columns of one length."""

    @staticmethod
    def from_columns(columns: list[tuple[str, Any]]) -> Table: ...
    @staticmethod
    def from_arrow(batches: Any) -> Table: ...
    @staticmethod
    def read(names: list[str]) -> Table: ...
    def beside(self, other: Table) -> Table: ...
    def column(self, name: str) -> tuple[NDArray[Any], list[str]]: ...
    @property
    def rows(self) -> int: ...
    @property
    def columns(self) -> list[tuple[str, str]]: ...

class Classifier:
    """A trained classifier."""

    @staticmethod
    def load(path: str | PathLike[str]) -> Classifier: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Classifier: ...
    def save(self, path: str | PathLike[str]) -> None: ...
    def to_bytes(self) -> bytes: ...
    def with_labels(self, labels: str) -> Classifier: ...
    def predict(
        self, table: Table, keys: Table | None = None
    ) -> tuple[NDArray[np.bool_], NDArray[np.float64], NDArray[np.float64]]: ...
    def scores(self, table: Table) -> list[NDArray[np.float32]]: ...
    def evaluate(
        self,
        table: Table,
        weight: NDArray[np.float64] | None = None,
        confidence: float = 0.95,
        units: Table | None = None,
    ) -> tuple[str, list[str]]: ...
    def report(
        self,
        name: str,
        table: Table | None = None,
        weight: NDArray[np.float64] | None = None,
        confidence: float = 0.95,
    ) -> str: ...
    def describe(self) -> str: ...

def check(policy: str) -> str: ...
def folds(policy: str, train: Table, val: Table | None = None) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]: ...
def train(
    policy: str,
    train: Table,
    val: Table | None = None,
    threads: int = 1,
    progress: Callable[[int, int], object] | None = None,
) -> tuple[Classifier, str]: ...
def audit(
    policy: str,
    table: Table,
    chances: NDArray[np.float64],
    weight: NDArray[np.float64] | None = None,
    confidence: float = 0.95,
    units: Table | None = None,
) -> tuple[str, list[str]]: ...
