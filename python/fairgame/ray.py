"""Trainings, decisions, evaluations and audits on the workers of Ray, as `fairgame.dask` makes them on those of Dask."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from . import _arguments, _cluster, _fairgame, _partitions, _policy
from ._columns import check_columns
from ._estimator import FairGameClassifier
from ._evaluation import Evaluation

__all__ = ["audit", "evaluate", "predict", "train"]

OF_FIT: dict[str, Any] = {"threads": 1}  # What `FairGameClassifier.fit` leaves as it is.


def train(
    policy: Mapping[str, Any] | str | os.PathLike[str],
    data: Any,
    *,
    actors: int | None = None,
    threads_per_actor: int = 1,
    margin: float | str | Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    memory: int | str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    verbose: int | str = "auto",
) -> FairGameClassifier:
    """Trains by a policy on actors of Ray, as `fairgame.train` does in one place, to the bit.

    `data` is a dataset of `ray.data` with the label and the groups as columns; or a file, a folder, a pattern such as
    `"rows/*.parquet"`, or a list of these, which all nodes can read. A name with `://` is read by Ray. There are as many `actors` as
    the cluster has processors for, each with `threads_per_actor` of them. The others are as of `fairgame.dask.train`.
    """
    more = {"n_jobs": n_jobs, "memory": memory, "checkpoint": checkpoint, "resume": resume, "verbose": verbose}
    classifier, result = _trained(_policy.text(policy, margin), data, actors, threads_per_actor, **more)
    return FairGameClassifier._of(classifier, result=result)


def _trained(policy: str, data: Any, actors: int | None, threads: int, **more: Any) -> tuple[Any, dict[str, Any]]:
    """The classifier of `_fairgame.train_shards`, and what the training came to."""
    ray = _connected()
    if actors is not None and not isinstance(actors, int):
        raise ValueError("client is for data frames of Dask: Ray is reached by ray.init()")
    if threads < 1 or (actors is not None and actors < 1):
        raise ValueError("actors and threads_per_actor are numbers from 1 up")
    data = _read(data)
    runs = _cluster.files(data) if _cluster.is_path(data) else _blocks_of(data)
    there = len(_room(ray, threads))
    if actors is not None and actors > there:
        raise ValueError(f"the cluster has processors for {there} actors of {threads} threads, and {actors} are asked for")
    engine = RayEngine(runs, actors=actors, threads=threads)
    return _cluster.trained(policy, engine, _cluster.name_of(data), **more)


def _labelled(dataset: Any, y: Any, client: Any) -> tuple[Any, str, list[Any]]:
    """Rows with their label as a column, its name, and the labels that there are."""
    if client is not None:
        raise ValueError("client is for data frames of Dask: Ray is reached by ray.init()")
    if not isinstance(y, str):
        raise ValueError("y is the name of a column of the dataset")
    check_columns(y, columns=dataset.columns())
    return dataset, y, [one for one in dataset.unique(y) if one is not None and one == one]


def predict(classifier: FairGameClassifier | str | os.PathLike[str], dataset: Any, *, keys: str | None = None) -> Any:
    """Decides rows: a lazy dataset with the columns `decision`, `probability` and `score`, as of `fairgame.dask.predict`."""
    classifier = _cluster.loaded(classifier)
    _check(dataset)
    check_columns(classifier.features_in_use_, keys, columns=dataset.columns())
    more = {"model": classifier, "keys": keys}
    return dataset.map_batches(_partitions.decided, fn_kwargs=more, batch_format="pandas", batch_size=None)


def evaluate(
    classifier: FairGameClassifier | str | os.PathLike[str],
    dataset: Any,
    *,
    sample_weight: str | None = None,
    unit: str | None = None,
    confidence: float = 0.95,
) -> Evaluation:
    """Evaluates a classifier on a dataset of `ray.data`, as `fairgame.dask.evaluate` does."""
    classifier = _cluster.loaded(classifier)
    _check(dataset)
    check_columns(sample_weight, unit, columns=dataset.columns())
    more = (classifier, sample_weight, unit, _fairgame.__version__)
    sums = _fairgame.Sums.of_classifier(classifier._classifier)
    return _judged(sums, dataset, _partitions.evaluated, more, confidence)


def audit(
    dataset: Any,
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
    """Evaluates decisions of any origin on a dataset of `ray.data`, as `fairgame.dask.audit` does."""
    _check(dataset)
    check_columns(predictions, sample_weight, unit, columns=dataset.columns())
    policy = _policy.of_audit(label, objective, constraints)
    sums = _fairgame.Sums.of_policy(policy)
    more = (policy, predictions, str(label), positive, sample_weight, unit, _fairgame.__version__)
    return _judged(sums, dataset, _partitions.audited, more, confidence)


def _judged(sums: Any, dataset: Any, summed: Any, more: tuple, confidence: float) -> Evaluation:
    """What the sums of all blocks come to."""
    ray = _connected()
    task = ray.remote(summed)
    more = tuple(ray.put(one) for one in more)
    parts = ray.get([task.remote(block, *more) for block in dataset.to_pandas_refs()])
    return Evaluation(*_cluster.judged(sums, parts, confidence))


def is_dataset(data: Any) -> bool:
    """Whether this is a dataset of `ray.data`."""
    return hasattr(data, "map_batches") and hasattr(data, "to_pandas_refs")


def _check(dataset: Any) -> None:
    if not is_dataset(dataset):
        raise ValueError(f"a dataset of Ray is needed, such as ray.data.read_parquet(…), and not {type(dataset)}")


def _read(data: Any) -> Any:
    """Data whose name says that Ray has to read them, as a dataset."""
    if not (isinstance(data, str) and "://" in data):
        return data
    import ray

    plain = data.rstrip("/").lower()
    return ray.data.read_csv(data) if plain.endswith((".csv", ".csv.gz", ".tsv")) else ray.data.read_parquet(data)


def _blocks_of(dataset: Any) -> list[_cluster.Run]:
    _check(dataset)
    with suppress(AttributeError):
        dataset.context.execution_options.preserve_order = True
    blocks = dataset.to_arrow_refs()
    return [_cluster.Run(number, f"block {number}", block) for number, block in enumerate(blocks)]


def _connected() -> Any:
    import ray

    if not ray.is_initialized():
        raise ValueError("Ray is not running here: call ray.init() first")
    return ray


def _room(ray: Any, threads: int) -> list[str]:
    """A node for each actor that there are processors for, so that neighbours in the list are on different nodes."""
    nodes = [node for node in ray.nodes() if node["Alive"]]
    room = {node["NodeID"]: int(node["Resources"].get("CPU", 0)) // threads for node in nodes}
    return [node for turn in range(max(room.values(), default=0)) for node, most in sorted(room.items()) if turn < most]


@dataclass
class RayEngine(_cluster.Engine):
    """Shards as actors of Ray."""

    shard = "fairgame.ray._RayShard"

    actors: int | None = None
    threads: int = 1

    def places(self) -> list[str]:
        import ray

        end = time.monotonic() + _cluster.NO_WORKER
        while not (room := _room(ray, self.threads)):
            if time.monotonic() > end:
                need = f"{self.threads} processors" if self.threads > 1 else "a processor"
                raise RuntimeError(f"no node of the cluster has {need}, and none came in {_cluster.NO_WORKER:.0f} s")
            time.sleep(0.1)
        return room[: self.actors]

    def on_each(self, places: Sequence[str], function: Any, *given: Any) -> dict[str, Any]:
        import ray

        asked = {node: _on(ray.remote(function), node, 0).remote(*given) for node in set(places)}
        found: dict[str, Any] = {}
        for node, answer in asked.items():
            try:
                found[node] = ray.get(answer, timeout=_cluster.NO_WORKER)
            except ray.exceptions.RayTaskError as error:
                found[node] = error
            except ray.exceptions.RayError:
                pass  # It will be missed when its shard is asked.
        return found

    def start(self, place: str, runs: Sequence[_cluster.Run], *, again: bool) -> _Made:
        import ray

        # It is we who build lost shards again: they have to be asked what is remembered. The processors that a lost one
        # had may be taken by then, or be gone with their node.
        shard = _on(ray.remote(_RayShard), place, 0 if again else self.threads, max_restarts=0, max_task_retries=0)
        named = [(run.number, run.name) for run in runs]
        actor = shard.remote(named, [run.source for run in runs], self.threads, _fairgame.__version__)
        return _Made(actor, actor.__ray_ready__.remote(), time.monotonic() + _cluster.NO_WORKER)

    def ask(self, holder: _cluster.Holder, questions: list[bytes]) -> Any:
        return holder.actor.actor.answer.remote(questions)

    def wait(self, holder: _cluster.Holder, asked: Any) -> bytes:
        import ray

        made = holder.actor
        while True:
            try:
                return ray.get(asked, timeout=_cluster.PATIENCE)
            except ray.exceptions.GetTimeoutError:
                # Once an actor is there, Ray tells us if it is gone.
                if made.end is not None and ray.wait([made.ready], timeout=0)[0]:
                    made.end = None
                if made.end is not None and time.monotonic() > made.end:
                    free = ray.available_resources().get("CPU", 0)
                    raise RuntimeError(
                        f"the actor for {_cluster.named(holder.runs)} did not start in {_cluster.NO_WORKER:.0f} s on the node "
                        f"{holder.place}: {free:g} processors of the cluster are free; give fewer actors, or wait for other work"
                    ) from None
            except ray.exceptions.RayTaskError as error:
                # The shard's own: a block that is lost, too, which no other actor would get.
                for kind in (OSError, ValueError):
                    if isinstance(error.cause, kind):
                        raise kind(f"on the node {holder.place}: {error.cause}") from error
                raise
            except ray.exceptions.ActorDiedError as died:
                # One that could not be built says why.
                if "The actor died because of an error raised in its creation task" in str(died):
                    raise RuntimeError(f"on the node {holder.place}: {died}") from None
                raise _cluster.Lost from None
            except (
                ray.exceptions.RayActorError,
                ray.exceptions.ActorUnschedulableError,
                ray.exceptions.WorkerCrashedError,
                ray.exceptions.OutOfMemoryError,
                ray.exceptions.NodeDiedError,
                # Its node was lost once it had answered, and the answer with it.
                ray.exceptions.ObjectLostError,
            ):
                raise _cluster.Lost from None

    def stop(self, holder: _cluster.Holder) -> None:
        import ray

        if holder.actor is not None:
            with suppress(Exception):
                ray.kill(holder.actor.actor)


@dataclass
class _Made:
    """An actor that is being made."""

    actor: Any
    ready: Any
    """What is there once the actor is."""
    end: float | None
    """Until when we wait for it; None once it is there."""


def _on(remote: Any, node: str, processors: int, **more: Any) -> Any:
    """A task or an actor on a node, if that is still there."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    where = NodeAffinitySchedulingStrategy(node, soft=True)
    return remote.options(num_cpus=processors, scheduling_strategy=where, **more)


class _RayShard:
    """A shard that is built when it is first asked, so that an actor is there as soon as there is room for it."""

    def __init__(self, *given: Any) -> None:
        self._given = given
        self._shard: _partitions.Shard | None = None

    def answer(self, questions: list[bytes]) -> bytes:
        import ray

        if self._shard is None:
            named, parts, threads, version = self._given
            # Blocks are objects of Ray.
            parts = parts if not parts or isinstance(parts[0], str) else ray.get(parts)
            self._shard = _partitions.Shard(named, parts, threads, version)
        return self._shard.answer(questions)
