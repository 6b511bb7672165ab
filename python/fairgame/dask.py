"""Trainings, decisions, evaluations and audits of Dask's data frames.

Each partition is worked on where it is. For decisions and evaluations, the classifier crosses the network on the way there, and
sums on the way back: a few kilobytes for each partition, whatever the number of its rows. For trainings, docs/cluster.md says
what does. Sums are exact, so the result is that of all rows in one place, to the bit, however they are cut into partitions.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _cluster, _fairgame, _partitions, _policy
from ._columns import check_columns
from ._estimator import FairGameClassifier
from ._evaluation import Evaluation

__all__ = ["audit", "evaluate", "predict", "train"]

OF_FIT: dict[str, Any] = {"threads": None}  # What `FairGameClassifier.fit` leaves as it is.


def train(
    policy: Mapping[str, Any] | str | os.PathLike[str],
    data: Any,
    client: Any = None,
    *,
    margin: float | str | Mapping[str, Any] | None = None,
    threads_per_worker: int | None = None,
    n_jobs: int | None = None,
    memory: int | str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    verbose: int | str = "auto",
) -> FairGameClassifier:
    """Trains by a policy on the workers of a cluster, as `fairgame.train` does in one place, to the bit.

    `data` is a Dask data frame with the label and the groups as columns; or a file, a folder, a pattern such as `"rows/*.parquet"`,
    or a list of these, which all workers can read. A name with `://` is read by Dask. `client` is a client of Dask or the
    address of a scheduler; without it, the client in use. `n_jobs` and `memory` are of this process. A shard uses
    `threads_per_worker` threads, or as many as its worker has. With `checkpoint`, a training that was interrupted goes on
    from that folder if `resume` is true, on any number of workers. `cluster_` of the result counts what was asked.
    """
    more = {"n_jobs": n_jobs, "memory": memory, "checkpoint": checkpoint, "resume": resume, "verbose": verbose}
    classifier, result = _trained(_policy.text(policy, margin), data, client, threads_per_worker, **more)
    return FairGameClassifier._of(classifier, result=result)


def _trained(policy: str, data: Any, client: Any, threads: int | None, **more: Any) -> tuple[Any, dict[str, Any]]:
    """The classifier of `_fairgame.train_shards`, and what the training came to."""
    if threads is not None and threads < 1:
        raise ValueError("threads_per_worker is a number from 1 up")
    with _connected(client) as own:
        data = _read(data)
        runs = _cluster.files(data) if _cluster.is_path(data) else _partitions_of(data)
        engine = DaskEngine(runs, client=own, threads=threads)
        return _cluster.trained(policy, engine, _cluster.name_of(data), **more)


def _labelled(ddf: Any, y: Any, client: Any) -> tuple[Any, str, list[Any]]:
    """Rows with their label as a column, its name, and the labels that there are."""
    if not isinstance(y, str):
        if not hasattr(y, "to_delayed"):
            raise ValueError("y is the name of a column of the frame, or a series of Dask beside it")
        name = y.name if isinstance(y.name, str) and y.name else "label"
        if name in ddf.columns:
            raise ValueError(f"y is called {name!r}, and so is a column of the frame: give y={name!r}, or rename one")
        ddf, y = ddf.assign(**{name: y}), name
    check_columns(y, columns=list(ddf.columns))
    # Not `.compute()`: that goes to the default scheduler, which may be another one.
    with _connected(client) as own:
        return ddf, y, own.compute(ddf[y].dropna().unique()).result().tolist()


def predict(classifier: FairGameClassifier | str | os.PathLike[str], ddf: Any, *, keys: str | None = None) -> Any:
    """Decides rows: a lazy Dask data frame with the columns `decision`, `probability` (of a positive decision) and `score`.

    It has the index and the partitions of `ddf`, and nothing is computed before it is asked for. `keys` names the column of
    identifiers that decisions are drawn by; without it they are drawn by the features, as `FairGameClassifier.predict`
    draws them.
    """
    import pandas as pd

    classifier = _cluster.loaded(classifier)
    _check(ddf)
    check_columns(classifier.features_in_use_, keys, columns=list(ddf.columns))
    kind = np.asarray(classifier.classes_).dtype
    empty = {"decision": pd.Series(dtype=object if kind.kind in "US" else kind), "probability": 0.0, "score": 0.0}
    meta = pd.DataFrame({name: pd.Series(one, dtype=getattr(one, "dtype", float)) for name, one in empty.items()}).iloc[:0]
    return ddf.map_partitions(_partitions.decided, classifier, keys, meta=meta, enforce_metadata=False)


def evaluate(
    classifier: FairGameClassifier | str | os.PathLike[str],
    ddf: Any,
    *,
    sample_weight: str | None = None,
    unit: str | None = None,
    confidence: float = 0.95,
) -> Evaluation:
    """Evaluates a classifier on a Dask data frame that has the label and the groups as columns, as `fairgame.evaluate` does.

    `sample_weight` and `unit` name columns. It does not look for rows that training has seen.
    """
    classifier = _cluster.loaded(classifier)
    _check(ddf)
    check_columns(sample_weight, unit, columns=list(ddf.columns))
    more = (classifier, sample_weight, unit, _fairgame.__version__)
    sums = _fairgame.Sums.of_classifier(classifier._classifier)
    return _judged(sums, ddf, _partitions.evaluated, more, confidence)


def audit(
    ddf: Any,
    predictions: str,
    *,
    label: str,
    constraints: Iterable[Any],
    objective: Any = "error()",
    positive: Any = None,
    sample_weight: str | None = None,
    unit: str | None = None,
    confidence: float = 0.95,
) -> Evaluation:
    """Evaluates decisions of any origin on a Dask data frame, as `fairgame.audit` does.

    `predictions`, `sample_weight` and `unit` name columns. Constraints with `quantile()` are refused: write the number.
    """
    _check(ddf)
    check_columns(predictions, sample_weight, unit, columns=list(ddf.columns))
    policy = _policy.of_audit(label, objective, constraints)
    sums = _fairgame.Sums.of_policy(policy)
    more = (policy, predictions, str(label), positive, sample_weight, unit, _fairgame.__version__)
    return _judged(sums, ddf, _partitions.audited, more, confidence)


def _judged(sums: Any, ddf: Any, summed: Any, more: tuple, confidence: float) -> Evaluation:
    """What the sums of all partitions come to."""
    import dask

    parts = dask.compute(*(dask.delayed(summed)(part, *more) for part in ddf.to_delayed()))
    return Evaluation(*_cluster.judged(sums, parts, confidence))


def _check(ddf: Any) -> None:
    if not is_frame(ddf):
        raise ValueError(f"a data frame of Dask is needed, such as dask.dataframe.read_parquet(…), and not {type(ddf)}")


def is_frame(data: Any) -> bool:
    """Whether this is a data frame of Dask."""
    return hasattr(data, "map_partitions") and hasattr(data, "to_delayed") and hasattr(data, "columns")


def _read(data: Any) -> Any:
    """Data whose name says that Dask has to read them, as a frame."""
    if not (isinstance(data, str) and "://" in data):
        return data
    import dask.dataframe as dd

    plain = data.rstrip("/").lower()
    return dd.read_csv(data) if plain.endswith((".csv", ".csv.gz", ".tsv")) else dd.read_parquet(data)


def _partitions_of(ddf: Any) -> list[_cluster.Run]:
    _check(ddf)
    parts = ddf.to_delayed()
    return [_cluster.Run(number, f"partition {number}", part) for number, part in enumerate(parts)]


def _connected(client: Any) -> Any:
    """A connection of our own, which talks to workers directly; what it holds is gone once it is closed."""
    import distributed

    if client is None:
        client = distributed.get_client()
    if isinstance(client, str):
        return distributed.Client(client, direct_to_workers=True, set_as_default=False)
    if not hasattr(client, "scheduler_info"):
        raise ValueError(f"client is a client of Dask or the address of a scheduler, not {type(client)}")
    if client.asynchronous:
        raise ValueError("the client is asynchronous: give one that is not, or the address of the scheduler")
    address, security = client.scheduler.address, client.security
    return distributed.Client(address, security=security, direct_to_workers=True, set_as_default=False)


@dataclass
class DaskEngine(_cluster.Engine):
    """Shards as actors on the workers of Dask."""

    client: Any = None
    threads: int | None = None

    advice = (
        "see the logs of the cluster, and whether the client reaches the workers: questions go to them directly, not through "
        "the scheduler"
    )

    def places(self) -> list[str]:
        end = time.monotonic() + _cluster.NO_WORKER
        while True:
            workers = self._workers()
            # A paused worker, whose memory is nearly full, would not begin to build a shard.
            if running := sorted(place for place, one in workers.items() if one["status"] == "running"):
                return running
            if time.monotonic() > end:
                states = ", ".join(f"{place} is {one['status']}" for place, one in sorted(workers.items()))
                found = f"no worker of the cluster is running ({states})" if states else "the cluster has no worker"
                raise RuntimeError(f"{found}, and none came in {_cluster.NO_WORKER:.0f} s")
            time.sleep(0.1)

    def _workers(self) -> Mapping[str, Any]:
        return self.client.scheduler_info(n_workers=-1)["workers"]

    def on_each(self, places: Sequence[str], function: Any, *given: Any) -> dict[str, Any]:
        how = {"pure": False, "allow_other_workers": False}
        asked = {place: self.client.submit(function, *given, workers=[place], **how) for place in places}
        found: dict[str, Any] = {}
        for place, future in asked.items():
            try:
                found[place] = self._until_there(place, future, _Made(future))
            except _cluster.Lost:
                pass
            except Exception as error:
                found[place] = error
        return found

    def start(self, place: str, runs: Sequence[_cluster.Run], *, again: bool) -> _Made:
        workers = self._workers()
        if place not in workers:
            raise _cluster.Lost
        threads = self.threads or workers[place]["nthreads"]
        # A partition that was there before may have to be made again: it goes where it is needed.
        parts = [run.source for run in runs]
        if parts and not isinstance(parts[0], str):
            parts = self.client.compute(parts, workers=[place], allow_other_workers=True)
        named = [(run.number, run.name) for run in runs]
        with self.client.as_current():
            how = {"workers": [place], "actor": True, "pure": False, "allow_other_workers": False}
            return _Made(self.client.submit(_partitions.Shard, named, parts, threads, _fairgame.__version__, **how))

    def ask(self, holder: _cluster.Holder, questions: list[bytes]) -> Any:
        if holder.actor.shard is None:
            holder.actor.shard = self._built(holder)
        try:
            return holder.actor.shard.answer(questions)
        except (RuntimeError, ValueError, OSError):
            raise _cluster.Lost from None

    def wait(self, holder: _cluster.Holder, asked: Any) -> bytes:
        try:
            return self._until_there(holder.place, asked, holder.actor)
        except OSError:
            raise _cluster.Lost from None

    def stop(self, holder: _cluster.Holder) -> None:
        holder.actor = None  # The last reference: the scheduler forgets the actor.

    def _built(self, holder: _cluster.Holder) -> Any:
        from distributed.comm import CommClosedError

        try:
            return self._until_there(holder.place, holder.actor.future, holder.actor)
        except CommClosedError:
            raise _cluster.Lost from None
        except OSError as error:
            raise OSError(f"on the worker {holder.place}: {error}") from error
        except ValueError as error:
            raise ValueError(f"on the worker {holder.place}: {error}") from error

    def _until_there(self, place: str, asked: Any, made: _Made) -> Any:
        """A result, however long it takes, as long as the worker is there and works."""
        import distributed
        from distributed.scheduler import KilledWorker

        paused = None
        while True:
            try:
                with self.client.as_current():
                    return asked.result(timeout=_cluster.PATIENCE)
            except (distributed.CancelledError, KilledWorker):
                raise _cluster.Lost from None
            except (TimeoutError, distributed.TimeoutError):
                found = self._workers().get(place)
                # A worker that is started anew may have the address of the one that is gone.
                if found is None or made.future.status not in ("pending", "finished"):
                    raise _cluster.Lost from None
                # A paused worker does not begin anything; a shard that it has goes on answering.
                if found["status"] == "running" or made.shard is not None:
                    paused = None
                elif time.monotonic() > (paused := paused or time.monotonic()) + _cluster.NO_WORKER:
                    raise _cluster.Lost from None


@dataclass
class _Made:
    """A shard that is being built on a worker."""

    future: Any
    """What the scheduler knows it by."""
    shard: Any = None
    """Once it is there."""
