"""Training on rows that the workers of a cluster have, whichever engine reaches them.

Each worker has a shard: some runs of consecutive rows, such as files or partitions. It answers questions, which are bytes, with
bytes; `_fairgame.train_shards` asks them and goes the road of every training. A shard is a function of its rows and of the
questions before. So a lost one is built again from its rows, elsewhere, and is asked again what is remembered.
"""

from __future__ import annotations

import glob
import json
import os
import pydoc
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any

from sklearn.utils.validation import check_is_fitted

from . import _arguments, _fairgame
from ._estimator import FairGameClassifier
from ._progress import Bar
from ._said import FairGameWarning

LOSSES = 5  # So often may a shard be lost in a row before its training ends.
PATIENCE = 2.0  # Seconds without an answer before we look whether the worker is still there.
NO_WORKER = 120.0  # Seconds that we wait for a worker, or for room on one.


class Lost(Exception):
    """A worker does not answer any more."""


@dataclass(frozen=True)
class Run:
    """A run of consecutive rows."""

    number: int
    """Which of all runs it is."""
    name: str
    source: Any
    """The path of a file, or what the engine knows a partition by."""
    weight: int = 1
    """About how long it takes to read, beside others."""


@dataclass
class Holder:
    """A shard on a worker."""

    runs: Sequence[Run]
    place: Any
    """The worker, as the engine knows it."""
    actor: Any
    """What the engine calls."""


@dataclass
class Counts:
    """What a training asked of the cluster."""

    shards: int = 0
    questions: int = 0
    bytes_asked: int = 0
    """Bytes of questions, counted once for each shard."""
    bytes_answered: int = 0
    lost: int = 0
    """How many shards were lost and built again."""


@dataclass
class Engine(ABC):
    """Who reaches the shards. An engine that is done is closed, and leaves nothing behind."""

    runs: Sequence[Run]
    counts: Counts = field(default_factory=Counts)
    _holders: list[Holder] = field(default_factory=list)
    _remembered: list[bytes] = field(default_factory=list)

    shard = "fairgame._partitions.Shard"
    """The name of the class of shards."""
    advice = "see the logs of the cluster"
    """What to look at when a worker is lost again and again."""

    @abstractmethod
    def places(self) -> list[Any]:
        """The workers that take shards now; waits for one if there is none."""

    @abstractmethod
    def on_each(self, places: Sequence[Any], function: Any, *given: Any) -> dict[Any, Any]:
        """What a function of the standard library returns on each worker, or raises there. One that is lost is left out."""

    @abstractmethod
    def start(self, place: Any, runs: Sequence[Run], *, again: bool) -> Any:
        """Begins to build a shard on a worker, once more after a loss or not, and returns what `ask` needs. May raise Lost."""

    @abstractmethod
    def ask(self, holder: Holder, questions: list[bytes]) -> Any:
        """Sends questions to a shard, and returns what `wait` needs. May raise Lost."""

    @abstractmethod
    def wait(self, holder: Holder, asked: Any) -> bytes:
        """The answer to the last of the questions. Raises Lost if the worker is gone."""

    @abstractmethod
    def stop(self, holder: Holder) -> None:
        """Forgets a shard."""

    def __call__(self, question: bytes, keep: int | None) -> list[bytes]:
        """The answers of all shards; `keep` is as of `_fairgame.train_shards`."""
        if not self._holders:
            self._begin()
        answers = self._answers(question)
        if keep is not None:
            self._remembered[keep:] = [question]
        self.counts.questions += 1
        self.counts.bytes_asked += len(question) * len(answers)
        self.counts.bytes_answered += sum(map(len, answers))
        return answers

    def close(self) -> None:
        for holder in self._holders:
            with suppress(Exception):
                self.stop(holder)
        self._holders = []

    def _begin(self) -> None:
        places = self.places()
        self._check_packages(places)
        parts = [part for part in dealt(self.runs, len(places)) if part]
        self._holders = [Holder(part, place, None) for part, place in zip(parts, places)]
        self.counts.shards = len(self._holders)
        for holder in self._holders:
            with suppress(Lost):  # It will be missed when it is asked.
                holder.actor = self.start(holder.place, holder.runs, again=False)

    def _check_packages(self, places: Sequence[Any]) -> None:
        """Refuses workers without this version of the package: one that is sent what it cannot import would stop."""
        own = version()
        install = f"install fairgame {own or _fairgame.__version__} on all"
        for place, there in self.on_each(places, metadata.version, "fairgame").items():
            if isinstance(there, str) and own is not None and there != own:
                raise RuntimeError(f"the worker {place} has fairgame {there}, and the client has {own}: install one version on all")
        for place, shard in self.on_each(places, pydoc.locate, self.shard).items():
            if isinstance(shard, Exception):
                raise RuntimeError(f"the worker {place} cannot import fairgame: {shard}") from shard
            if shard is None:
                [found] = self.on_each([place], pydoc.locate, "fairgame._fairgame.__version__").values() or [None]
                has = "no package fairgame" if not isinstance(found, str) else f"fairgame {found}, which is another version"
                raise RuntimeError(f"the worker {place} has {has}: {install}")

    def _answers(self, question: bytes) -> list[bytes]:
        answers: dict[int, bytes] = {}
        asked = {at: self._asked(holder, [question]) for at, holder in enumerate(self._holders)}
        for attempt in range(LOSSES + 1):
            lost = []
            for at, pending in asked.items():
                try:
                    if pending is None:
                        raise Lost
                    answers[at] = self.wait(self._holders[at], pending)
                except Lost:
                    lost.append(at)
            if not lost:
                return list(answers.values())
            if attempt < LOSSES:
                for at in lost:
                    self._replace(self._holders[at])
                self.counts.lost += len(lost)
                asked = {at: self._asked(self._holders[at], [*self._remembered, question]) for at in lost}
        holder = self._holders[lost[0]]
        raise RuntimeError(
            f"the worker with {named(holder.runs)} was lost {LOSSES + 1} times in a row, the last time {holder.place}: "
            f"it may have too little memory, or be stopped by something else; {self.advice}"
        )

    def _asked(self, holder: Holder, questions: list[bytes]) -> Any:
        """What waits for the answer; None if the worker is gone already."""
        try:
            return None if holder.actor is None else self.ask(holder, questions)
        except Lost:
            return None

    def _replace(self, holder: Holder) -> None:
        """Builds the shard of a lost worker on that with the fewest shards."""
        with suppress(Exception):
            self.stop(holder)
        holder.actor = None
        places = self.places()
        others = [place for place in places if place != holder.place] or places
        held = [one.place for one in self._holders if one is not holder]
        holder.place = min(others, key=held.count)
        with suppress(Lost):
            holder.actor = self.start(holder.place, holder.runs, again=True)


def dealt(runs: Sequence[Run], shards: int) -> list[list[Run]]:
    """Consecutive runs for each shard, of about equal weight."""
    total, parts = sum(run.weight for run in runs), [[] for _ in range(shards)]
    done = 0
    for run in runs:
        # By the middle of the run, so that each shard is as near to its share as whole runs allow.
        parts[min(shards - 1, (2 * done + run.weight) * shards // (2 * max(total, 1)))].append(run)
        done += run.weight
    return parts


def named(runs: Sequence[Run]) -> str:
    """What messages call a shard of these runs."""
    names = [run.name for run in runs]
    return names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"


def version() -> str | None:
    """The version that is installed here; None if the package was not installed, but only lies here."""
    try:
        return metadata.version("fairgame")
    except metadata.PackageNotFoundError:
        return None


def files(data: Any) -> list[Run]:
    """The runs of a file, a folder, a pattern with asterisks, or a list of these."""
    paths = []
    for one in [data] if isinstance(data, (str, os.PathLike)) else list(data):
        name = os.fspath(one)
        found = sorted(glob.glob(name)) if glob.has_magic(name) and not os.path.exists(name) else [name]
        if not found:
            raise FileNotFoundError(f"there is no file {name}")
        for path in found:
            paths.extend(_fairgame.files(path))
    if not paths:
        raise FileNotFoundError("there is no file: give at least one")
    paths = [os.path.abspath(path) for path in paths]
    sizes = [max(os.path.getsize(path), 1) if os.path.exists(path) else 1 for path in paths]
    return [Run(number, path, path, size) for number, (path, size) in enumerate(zip(paths, sizes))]


def is_path(data: Any) -> bool:
    """Whether these are the names of files."""
    if isinstance(data, (str, os.PathLike)):
        return True
    return isinstance(data, Iterable) and not hasattr(data, "columns") and all(isinstance(one, (str, os.PathLike)) for one in data)


def name_of(data: Any) -> str:
    """What messages and model files call the rows: files as the command line does."""
    if not is_path(data):
        return "the rows of the cluster"
    return ", ".join(map(os.fspath, [data] if isinstance(data, (str, os.PathLike)) else data))


def trained(
    policy: str,
    engine: Engine,
    name: str,
    *,
    n_jobs: int | None,
    memory: Any,
    checkpoint: Any,
    resume: bool,
    verbose: int | str,
) -> tuple[Any, dict[str, Any]]:
    """The classifier of `_fairgame.train_shards`, and what the training came to."""
    threads, budget = _arguments.threads(n_jobs), _arguments.memory(memory)
    folder = None if checkpoint is None else os.fspath(checkpoint)
    if resume and folder is None:
        raise ValueError("resume=True, and there is no checkpoint to go on from: name its folder")
    try:
        with Bar(verbose) as progress:
            more = (name, threads, progress, budget, folder, resume)
            classifier, result = _fairgame.train_shards(policy, engine, *more)
    finally:
        engine.close()
    return classifier, {**json.loads(result), "cluster": vars(engine.counts)}


def judged(sums: Any, parts: Iterable[bytes], confidence: float) -> tuple[Mapping[str, Any], list[str]]:
    """What the sums of all parts come to, and what to know of it."""
    for part in parts:
        sums.merge(part)
    found, without_unit = sums.finish(confidence)
    notes = [f"{without_unit} rows without a unit count as units of their own"] if without_unit else []
    for note in notes:
        warnings.warn(note, FairGameWarning, stacklevel=4)
    return json.loads(found), notes


def loaded(classifier: Any) -> FairGameClassifier:
    if isinstance(classifier, (str, os.PathLike)):
        classifier = FairGameClassifier.load(classifier)
    check_is_fitted(classifier)
    return classifier
