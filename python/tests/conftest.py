import numpy as np
import pytest

FEW = {"practical": {"turns": 3000}}


@pytest.fixture(scope="session")
def people():
    """Features, labels and a group that has less of the skill that is hired for."""
    rng = np.random.default_rng(7)
    n = 3000
    group = rng.choice(["a", "b"], size=n, p=[0.4, 0.6])
    X = rng.normal(size=(n, 4))
    X[:, 0] -= 0.8 * (group == "a")
    y = X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=n) > 0
    return X, y, group
