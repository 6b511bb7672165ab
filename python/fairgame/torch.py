"""The gradient game with any module of torch.

`Game` gives the loss to go back along, plays the constraint player, keeps copies of the module, and selects a mixture of
them. `fit` is the whole loop, for a module and its data.

>>> import fairgame.torch                                                        # doctest: +SKIP
>>> game = fairgame.torch.Game(people, label="hired", constraints=["recall() >= 0.9"])
>>> for rows, judging in game.batches(100):
...     if game.keeps:
...         game.keep(module, X)
...     loss = game.loss(module(X[rows]), rows)
...     game.judge(module(X[judging]), judging)
...     optimizer.zero_grad()
...     loss.backward()
...     optimizer.step()
>>> classifier = game.select()
"""

from __future__ import annotations

import copy
import hashlib
import io
import itertools
import json
import os
import pathlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset

from . import _arguments, _fairgame, _files, arrays
from ._estimator import FairGameClassifier
from ._evaluation import Evaluation
from ._table import table as _table

Array = NDArray[Any]

__all__ = ["Classifier", "Game", "fit", "load", "scores"]

FORMAT = "torch"


class Game(arrays.Game):
    """The game of `fairgame.arrays.Game`, which has its parameters, with tensors of any device as scores."""

    _name = "torch"

    def __init__(self, train: Any, **settings: Any) -> None:
        super().__init__(train, **settings)
        self._modules: list[nn.Module] = []

    def batches(self, size: int, validation_size: int | None = None) -> Iterator[tuple[Any, Any]]:
        """For each turn that is left, the numbers of some training rows and of some rows to judge by, as tensors."""
        for rows in super().batches(size, validation_size):
            yield tuple(torch.from_numpy(one.astype(np.int64)) for one in rows)  # type: ignore[misc]

    def slopes(self, scores: Any, rows: Any = None) -> Any:
        """The slope of the Lagrangian in each score, as a tensor like `scores`: `scores.backward(slopes)`."""
        found = super().slopes(_array(scores), _numbers(rows))
        return torch.from_numpy(found).to(scores).reshape(scores.shape)

    def loss(self, scores: Tensor, rows: Any = None) -> Tensor:
        """The Lagrangian of these training rows, as a tensor whose gradient is that of `slopes`."""
        value = super().lagrangian(_array(scores), _numbers(rows))
        along = (scores * self.slopes(scores, rows)).sum()
        return along - along.detach() + value

    def lagrangian(self, scores: Any, rows: Any = None) -> float:
        """The value of `loss`."""
        return super().lagrangian(_array(scores), _numbers(rows))

    def measure(self, scores: Any, rows: Any = None, *, validation: bool = False) -> tuple[float, Array]:
        """The objective, and the loss of each constraint, of deciding these rows by their scores."""
        return super().measure(_array(scores), _numbers(rows), validation=validation)

    def judge(self, scores: Any, rows: Any = None) -> tuple[float, Array]:
        """Ends the turn: the constraint player learns from the scores of these validation rows."""
        return super().judge(_array(scores), _numbers(rows))

    def keep(self, module: nn.Module, train: Any, validation: Any = None, *, batch_size: int = 4096) -> int:  # type: ignore[override]
        """Keeps a copy of this turn's module. It scores all training rows, and all validation rows if there are any."""
        if self._one != (validation is None):
            said = "has no validation rows, and some are given" if self._one else "has validation rows: give them"
            raise ValueError(f"the game {said}")
        given = [None if data is None else scores(module, data, batch_size=batch_size) for data in (train, validation)]
        number = super().keep(*given)
        kept = copy.deepcopy(module).cpu().eval()
        self._modules.append(kept.requires_grad_(False))
        return number

    def select(self) -> Classifier:  # type: ignore[override]
        """Selects the mixture of the kept modules under the constraints, and ends the game."""
        mixture = super().select()
        return Classifier(mixture, [self._modules[number] for number in mixture.snapshots])


class Classifier:
    """A randomised classifier: a mixture of modules, one of which is drawn to decide a row.

    What training came to is in `mixture.rule`, a `FairGameClassifier` over the scores of the modules: `standing_`,
    `enforcement_`, `evaluations_`, `prices_` and the other attributes are read from it.

    Data are a tensor, an array, a dataset of torch whose items are inputs of the module (or tuples that begin with
    them), or a `DataLoader` that keeps the order of rows.
    """

    def __init__(self, mixture: arrays.Mixture, modules: Iterable[nn.Module]) -> None:
        self.mixture = mixture
        self.modules = list(modules)
        self.device: torch.device | str = "cpu"

    def __getattr__(self, name: str) -> Any:
        # Attributes of fitted estimators end in an underscore.
        if name.endswith("_") and not name.startswith("_"):
            return getattr(self.mixture.rule, name)
        raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")

    def to(self, device: torch.device | str) -> Classifier:
        """Moves the modules to a device."""
        self.device, self.modules = device, [module.to(device) for module in self.modules]
        return self

    def predict(self, X: Any, *, keys: Any = None) -> Array:
        """The decision for each row. The same row always gets the same decision.

        Where the modules disagree, one of them is drawn by a hash of the row's inputs, or of `keys`.
        """
        keys = _hashes(X) if keys is None else keys
        return self.mixture.predict(self._scores(X), keys=keys)

    def predict_proba(self, X: Any) -> Array:
        """The probability of each *decision*, over the random draw of a module; not that of the label."""
        return self.mixture.predict_proba(self._scores(X))

    def decision_function(self, X: Any) -> Array:
        """The mean score over the mixture."""
        return self.mixture.rule.decision_function(self.mixture.table(self._scores(X)))

    def evaluate(
        self, X: Any, data: Any, *, sample_weight: Any = None, unit: Any = None, confidence: float = 0.95
    ) -> Evaluation:
        """Rates and constraints with verdicts on rows that have the label and the groups as columns of `data`."""
        return self.mixture.evaluate(
            self._scores(X), data, sample_weight=sample_weight, unit=unit, confidence=confidence
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the mixture as a model file, and the parameters of the modules beside it as `NAME.HASH.torch`.

        The file of parameters holds tensors only, and the model file has its hash.
        """
        path = pathlib.Path(path)
        buffer = io.BytesIO()
        torch.save([module.state_dict() for module in self.modules], buffer)
        content = buffer.getvalue()
        hashed = hashlib.sha256(content).hexdigest()
        companion = {
            "file": _files.name_beside(path, hashed, FORMAT),
            "sha256": hashed,
            "format": FORMAT,
            "estimators": [type(module).__name__ for module in self.modules],
            "features": [],
            "named": False,
        }
        assert self.mixture.rule._classifier is not None
        _files.save(self.mixture.rule._classifier, path, content, companion)

    def _scores(self, X: Any) -> Array:
        return np.column_stack([scores(module, X) for module in self.modules])


def load(path: str | os.PathLike[str], module: nn.Module, *, classes: Iterable[Any] | None = None) -> Classifier:
    """Reads what `Classifier.save` wrote. `module` has the architecture; its parameters are replaced in copies of it.

    Only tensors are read from the file of parameters: no code is run.
    """
    path = pathlib.Path(path)
    classifier = _fairgame.Classifier.load(path)
    companion = json.loads(classifier.describe())["companion"]
    if companion is None or companion["format"] != FORMAT:
        raise ValueError(f"`{path.name}` has no modules of torch: read it by FairGameClassifier.load")
    content, modules = _files.content(path, companion), []
    rule = FairGameClassifier._of(classifier, classes)
    for state in torch.load(io.BytesIO(content), weights_only=True, map_location="cpu"):
        one = copy.deepcopy(module).cpu()
        try:
            one.load_state_dict(state)
        except RuntimeError as error:
            raise ValueError(f"the module is another one than was saved: {error}") from None
        modules.append(one.eval().requires_grad_(False))
    return Classifier(arrays.Mixture._of(rule), modules)


def fit(
    module: nn.Module,
    data: Any,
    train: Any,
    *,
    label: str,
    constraints: Iterable[Any],
    validation: tuple[Any, Any] | None = None,
    datasets: str = "two",
    optimizer: torch.optim.Optimizer | Callable[[Iterable[nn.Parameter]], torch.optim.Optimizer] | None = None,
    batch_size: int | None = None,
    device: torch.device | str | None = None,
    random_state: Any = None,
    **settings: Any,
) -> Classifier:
    """Trains a module under constraints: the whole loop.

    Parameters
    ----------
    module : nn.Module
        It gives one score per row; a positive score is a positive decision. It is trained in place.
    data : tensor, array, Dataset or DataLoader
        The inputs of the training rows. Items of a dataset are inputs, or tuples that begin with them. Of a
        `DataLoader` the dataset, batch size, collate function and workers are used; its order is not.
    train : frame, dict of arrays, or path of a file
        The same rows, with the label and the groups as columns.
    label, constraints, **settings
        As of `Game`: `turns`, `keep`, `algorithm`, `margin` and others.
    validation : tuple (data, table)
        Rows to enforce the constraints on.
    datasets : "two" or "one"
        Without `validation`: a random half of the rows is for enforcing the constraints, or all rows are for both.
        With `unit`, rows of one unit are in one half.
    optimizer : Optimizer, or a function that makes one of parameters
        Adam with a step of 0.001 if it is not given.
    batch_size : int
        Rows in each player's minibatch; 100, or that of the loader.
    device : torch.device or str
        Where the module is trained; that of its parameters if it is not given.
    """
    rows, more = _dataset(data), {}
    if isinstance(data, DataLoader):
        more = {"num_workers": data.num_workers, "collate_fn": data.collate_fn}
        batch_size = batch_size or data.batch_size
    batch_size = batch_size or 100
    table = _table(train)
    if len(rows) != table.rows:
        raise ValueError(f"data has {len(rows)} rows, and the table {table.rows}")
    if datasets not in ("one", "two"):
        raise ValueError(f'datasets is "one" or "two", and not {datasets!r}')
    if validation is not None:
        others, val = _dataset(validation[0]), _table(validation[1])
        if len(others) != val.rows:
            raise ValueError(f"the validation data have {len(others)} rows, and their table {val.rows}")
    elif datasets == "two":
        halves = arrays._halves(table, settings.get("unit"), _arguments.seed(random_state))
        rows, others = (_part(rows, half) for half in halves)
        table, val = (table.take(half.astype(np.uint32)) for half in halves)
    else:
        others, val = rows, None
    game = Game(table, label=label, constraints=constraints, validation=val, random_state=random_state, **settings)
    place = device if device is not None else next((one.device for one in module.parameters()), torch.device("cpu"))
    module.to(place)
    if optimizer is None:
        optimizer = torch.optim.Adam
    if not isinstance(optimizer, torch.optim.Optimizer):
        optimizer = optimizer(module.parameters())
    drawn = [_Drawn(len(of), batch_size, [game._seed, at], game.turns) for at, of in enumerate((rows, others))]
    batches = [_batches(of, one, more) for of, one in zip((rows, others), drawn)]
    for taught, judged, inputs, judging in zip(*drawn, *batches):
        if game.keeps:
            game.keep(module, rows, None if val is None else others)
        module.train()
        loss = game.loss(_apply(module, inputs, place), taught)
        optimizer.zero_grad()
        loss.backward()
        module.eval()
        with torch.no_grad():
            game.judge(_apply(module, judging, place), judged)
        optimizer.step()
    return game.select()


class _Drawn:
    """The rows of each turn's minibatch: the same ones whenever it is asked."""

    def __init__(self, rows: int, size: int, seed: list[int], turns: int) -> None:
        self._of, self._turns = (rows, size, seed), turns

    def __iter__(self) -> Iterator[list[int]]:
        for rows in itertools.islice(arrays._epochs(*self._of), self._turns):
            yield rows.tolist()


def _batches(rows: Any, drawn: _Drawn, more: dict[str, Any]) -> Iterable[Any]:
    """The inputs of each minibatch. Rows of a tensor are taken at once, and not one by one."""
    if isinstance(rows, TensorDataset) and not more:
        return (rows.tensors[0][one] for one in drawn)
    return DataLoader(rows, batch_sampler=drawn, **more)  # type: ignore[arg-type]


def _part(rows: Any, numbers: Array) -> Any:
    """Some rows of a dataset."""
    if isinstance(rows, TensorDataset):
        return TensorDataset(*(one[numbers] for one in rows.tensors))
    return Subset(rows, numbers.tolist())


def scores(module: nn.Module, data: Any, *, batch_size: int = 4096) -> Array:
    """The scores that a module gives to all rows of data, without slopes and as it decides (`eval`)."""
    place = next((one.device for one in module.parameters()), torch.device("cpu"))
    rows = data if isinstance(data, DataLoader) else _dataset(data)
    loader: Iterable[Any] = rows
    if isinstance(rows, TensorDataset):
        # At once, and not row by row.
        loader = rows.tensors[0].split(batch_size)
    elif not isinstance(rows, DataLoader):
        loader = DataLoader(rows, batch_size=batch_size)
    was, found = module.training, []
    module.eval()
    try:
        with torch.no_grad():
            found = [_array(_apply(module, inputs, place)) for inputs in loader]
    finally:
        module.train(was)
    return np.concatenate(found) if found else np.empty(0, dtype=np.float32)


def _apply(module: nn.Module, inputs: Any, place: Any) -> Tensor:
    """The scores of a batch, of which the inputs come first if it has more."""
    if isinstance(inputs, (tuple, list)):
        inputs = inputs[0]
    found = module(inputs.to(place) if isinstance(inputs, Tensor) else inputs)
    if not isinstance(found, Tensor) or found.ndim > 2 or found.ndim == 2 and found.shape[1] != 1 or found.ndim == 0:
        what = f"a tensor of shape {tuple(found.shape)}" if isinstance(found, Tensor) else type(found).__name__
        raise ValueError(f"{type(module).__name__} gives {what}: it must give one score per row")
    return found.reshape(-1)


def _dataset(data: Any) -> Any:
    """Data as a dataset that has a length."""
    if isinstance(data, DataLoader):
        data = data.dataset
    if isinstance(data, Tensor):
        return TensorDataset(data)
    if isinstance(data, Dataset):
        if not hasattr(data, "__len__"):
            raise ValueError("the dataset must have a length: rows are drawn by their numbers")
        return data
    found = np.asarray(data)
    if found.dtype.kind not in "fiub":
        raise ValueError("data are a tensor, an array of numbers, or a dataset of torch")
    return TensorDataset(torch.as_tensor(found, dtype=torch.float32))


def _hashes(data: Any) -> Array:
    """What each row's draw is made from: its inputs, which do not change with the device as scores may."""
    rows = _dataset(data)
    items = rows.tensors[0].detach().cpu() if isinstance(rows, TensorDataset) else (rows[at] for at in range(len(rows)))
    first = (item[0] if isinstance(item, (tuple, list)) else item for item in items)
    values = (one.detach().cpu().numpy() if isinstance(one, Tensor) else np.asarray(one) for one in first)
    return np.array([hashlib.blake2b(one.tobytes(), digest_size=8).hexdigest() for one in values], dtype=object)


def _array(values: Any) -> Array:
    return values.detach().float().cpu().numpy() if isinstance(values, Tensor) else np.asarray(values)


def _numbers(rows: Any) -> Any:
    return rows.detach().cpu().numpy() if isinstance(rows, Tensor) else rows
