"""Training can be watched and stopped."""

import json
import signal
import threading

import fairgame
import numpy as np
import pytest
from fairgame import FairGameClassifier

from conftest import FEW


def test_stopping(people):
    """What is raised while training, as by Ctrl-C, ends it at once; and the lock is not held meanwhile."""
    X, y, _ = people
    endless = FairGameClassifier(algorithm={"practical": {"turns": 10**9}})
    turned, over = [], threading.Event()

    def turn():
        # Many small steps, each of which needs the lock.
        while not over.is_set() and len(turned) < 200_000:
            turned.append(None)
        signal.raise_signal(signal.SIGINT)
        # An interrupt that comes while Python cleans up is dropped: then another.
        while not over.wait(20):
            signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=turn)
    with pytest.raises(KeyboardInterrupt):
        thread.start()
        endless.fit(X, y)
    over.set()
    thread.join()
    assert len(turned) == 200_000
    assert not hasattr(endless, "multipliers_")


@pytest.mark.parametrize("threads", [1, 2])
def test_what_progress_raises(people, threads):
    """What the callback raises ends the training at once and is raised again; it is not called any more."""
    X, y, _ = people
    rows = fairgame._table({"skill": X[:, 0], "hired": np.asarray(y, dtype=bool)})
    practical = {"practical": {"turns": 10**9}}
    policy = json.dumps({"label": "hired", "constraints": ["recall() >= 0.9"], "algorithm": practical})
    calls = []

    def progress(done, turns):
        calls.append((done, turns))
        if len(calls) == 3:
            raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        fairgame._fairgame.train(policy, rows, threads=threads, progress=progress)
    assert len(calls) == 3
    assert calls == sorted(calls) and calls[0][0] > 0 and calls[0][1] == 2 * 5 * 10**9


def test_progress(people, capfd):
    X, y, _ = people
    FairGameClassifier(algorithm=FEW, verbose=1).fit(X, y)
    assert "100 %" in capfd.readouterr().err
    FairGameClassifier(algorithm=FEW).fit(X, y)
    assert capfd.readouterr().err == ""
    with pytest.raises(ValueError, match="auto"):
        FairGameClassifier(algorithm=FEW, verbose="much").fit(X, y)
