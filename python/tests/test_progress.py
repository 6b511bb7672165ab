"""Training can be watched and stopped."""

import json
import signal
import subprocess
import sys

import fairgame
import numpy as np
import pytest
from fairgame import FairGameClassifier

from conftest import FEW


ENDLESS = """
import threading
import numpy as np
from fairgame import FairGameClassifier

X = np.random.default_rng(7).normal(size=(3000, 4))
endless = FairGameClassifier(algorithm={"practical": {"turns": 10**9}})

def turn():
    # Many small steps, each of which needs the lock.
    for _ in range(200_000):
        pass
    print("turned", flush=True)

try:
    threading.Thread(target=turn).start()
    endless.fit(X, X[:, 0] > 0)
except KeyboardInterrupt:
    print("interrupted", hasattr(endless, "multipliers_"))
"""


def test_stopping():
    """Ctrl-C ends a training at once; and the lock is not held meanwhile."""
    with subprocess.Popen([sys.executable, "-c", ENDLESS], stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout.readline() == "turned\n"
        # An interrupt that comes while Python cleans up is dropped: then another.
        for _ in range(12):
            run.send_signal(signal.SIGINT)
            try:
                run.wait(10)
                break
            except subprocess.TimeoutExpired:
                pass
        else:
            run.kill()
        assert run.stdout.read() == "interrupted False\n"


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
