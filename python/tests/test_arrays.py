"""The gradient game by arrays: a network written out in numpy is trained under constraints, and selected from."""

import numpy as np
import pytest

from fairgame import FairGameClassifier
from fairgame.arrays import Game, Mixture

PARITY = "positive_rate(each sex) >= 0.8 * positive_rate()"


def people(rows, seed):
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], size=rows, p=[0.4, 0.6])
    skill = rng.normal(size=rows) + 0.8 * (sex == "m")
    X = np.column_stack([skill, rng.normal(size=rows), sex == "m"]).astype(np.float64)
    return X, {"sex": sex, "hired": skill + 0.5 * rng.normal(size=rows) > 1.0}


class Network:
    """One hidden layer of rectified linear units, by hand, with Adam."""

    def __init__(self, inputs, units, seed):
        rng = np.random.default_rng(seed)
        bound = np.sqrt(6 / (inputs + units))
        self.theta = [
            rng.uniform(-bound, bound, (inputs, units)), np.zeros(units), rng.normal(size=units) / units**0.5, np.zeros(1)
        ]
        self.moments, self.steps = [[np.zeros_like(one)] * 2 for one in self.theta], 0

    def __call__(self, X):
        first, bias, second, shift = self.theta
        return np.maximum(X @ first + bias, 0) @ second + shift[0]

    def step(self, X, slopes, size=0.01):
        first, bias, second, _ = self.theta
        hidden = np.maximum(X @ first + bias, 0)
        back = np.outer(slopes, second) * (hidden > 0)
        self.steps += 1
        for at, slope in enumerate([X.T @ back, back.sum(0), hidden.T @ slopes, np.array([slopes.sum()])]):
            mean = 0.9 * self.moments[at][0] + 0.1 * slope
            square = 0.999 * self.moments[at][1] + 0.001 * slope**2
            self.moments[at] = [mean, square]
            self.theta[at] = self.theta[at] - size * (mean / (1 - 0.9**self.steps)) / (
                np.sqrt(square / (1 - 0.999**self.steps)) + 1e-8
            )


def play(game, X, X_val=None, seed=0):
    network = Network(X.shape[1], 8, seed)
    judged = X if X_val is None else X_val
    kept = []
    for rows, judging in game.batches(100):
        if game.keeps:
            number = game.keep(network(X), None if X_val is None else network(X_val))
            assert number == len(kept)
            kept.append([one.copy() for one in network.theta])
        slopes = game.slopes(network(X[rows]), rows)
        game.judge(network(judged[judging]), judging)
        network.step(X[rows], slopes)
    mixture = game.select()
    networks = []
    for number in mixture.snapshots:
        one = Network(X.shape[1], 8, seed)
        one.theta = kept[number]
        networks.append(one)
    return mixture, lambda X: np.column_stack([one(X) for one in networks])


@pytest.mark.parametrize("algorithm", ["practical", "lagrangian"])
@pytest.mark.parametrize("datasets", ["one", "two"])
def test_constraints_hold_on_new_rows(algorithm, datasets):
    (X, data), (X_val, val), (fresh, truth) = people(3000, 1), people(3000, 2), people(20000, 3)
    two = datasets == "two"
    constraint = {"step": 0.01}
    constraint = {"adam": constraint} if algorithm == "lagrangian" else {"optimizer": {"adam": constraint}}
    game = Game(
        data, label="hired", constraints=[PARITY], validation=val if two else None, algorithm=algorithm, turns=1500,
        constraint=constraint,
    )
    mixture, scores = play(game, X, X_val if two else None)
    found = mixture.evaluate(scores(fresh), truth)
    assert max(one["value"] for one in found.constraints) < 0.02
    assert mixture.rule.standing_ == "enforced"  # The rows that judge have taught the constraint player.
    # Our own network, on rows of the same population and under the same rule.
    own = FairGameClassifier(
        [PARITY], model={"mlp": {"units": 8}}, algorithm={algorithm: {"turns": 1500}}, margin=1
    ).fit(np.vstack([X, X_val]), np.r_[data["hired"], val["hired"]], sensitive_features={"sex": np.r_[data["sex"], val["sex"]]})
    error = own.evaluate(fresh, truth["hired"], sensitive_features={"sex": truth["sex"]}).error
    assert found.error < error + 0.02
    # Decisions have the rates that were judged, and are drawn the same way each time.
    decided = mixture.predict(scores(fresh))
    assert (decided == mixture.predict(scores(fresh))).all()
    chances = mixture.predict_proba(scores(fresh))[:, 1]
    assert abs(decided.mean() - chances.mean()) < 0.01
    assert abs(((chances > 0.5) == truth["hired"]).mean() - (1 - found.error)) < 0.05


def reference(scores, data, weights, multipliers, h):
    """The Lagrangian of the error and the parity of two groups, from its definition."""
    label = data["hired"]
    share = weights / weights.sum()
    total = multipliers[0] * (share * np.where(label, h(-scores), h(scores))).sum()
    for by, sex in zip(multipliers[1], ("f", "m")):
        group = data["sex"] == sex
        own = 0.8 * share - np.where(group, weights / weights[group].sum(), 0.0)
        # A positive coefficient counts decisions from above by h(f), a negative one from below by 1 - h(-f).
        total += by * np.where(own > 0, own * h(scores), own * (1 - h(-scores))).sum()
    return total


SURROGATES = {
    "hinge": lambda f: np.maximum(0, 1 + f),
    "sigmoid": lambda f: 1 / (1 + np.exp(-f)),
    "logistic": lambda f: np.log1p(np.exp(f)) / np.log(2),
    "ramp": lambda f: np.clip(1 + f, 0, 1),
}


@pytest.mark.parametrize("surrogate", SURROGATES)
def test_slopes_are_derivatives(surrogate):
    rng = np.random.default_rng(4)
    _, data = people(40, 4)
    weights = rng.integers(1, 4, size=40).astype(float)
    game = Game(data | {"w": weights}, label="hired", constraints=[PARITY], weight="w", surrogate=surrogate)
    for _ in range(3):
        game.judge(rng.normal(size=40))
    # Away from the kinks of hinge and ramp, which are at -1, 0 and 1.
    scores = np.float32(rng.choice([-2.3, -0.6, 0.4, 1.7], size=40) + rng.uniform(-0.2, 0.2, size=40)).astype(np.float64)
    h = lambda f: SURROGATES[surrogate](f)
    value = lambda at: reference(at, data, weights, game.multipliers, h)
    assert abs(game.lagrangian(scores) - value(scores)) < 1e-6
    step = 1e-5
    wanted = [(value(scores + step * one) - value(scores - step * one)) / (2 * step) for one in np.eye(40)]
    assert np.abs(game.slopes(scores) - wanted).max() < 1e-6


def test_minibatches_estimate_all_rows():
    _, data = people(60, 5)
    scores = np.random.default_rng(5).normal(size=60)
    game = Game(data, label="hired", constraints=[PARITY])
    rows = np.arange(60)
    parts = [game.slopes(scores[rows % 3 == part], rows[rows % 3 == part]) for part in range(3)]
    together = np.empty(60)
    for part in range(3):
        together[rows % 3 == part] = parts[part] / 3
    assert np.allclose(together, game.slopes(scores), atol=1e-7)
    objective, losses = game.measure(scores)
    decided, sex = scores > 0, data["sex"]
    assert np.isclose(objective, (decided != data["hired"]).mean())
    assert np.allclose(losses, [0.8 * decided.mean() - decided[sex == one].mean() for one in ("f", "m")])


def test_files(tmp_path):
    X, data = people(1500, 6)
    game = Game(data, label="hired", constraints=[PARITY], turns=300, keep=30, classes=["no", "yes"])
    mixture, scores = play(game, X)
    mixture.save(tmp_path / "m.safetensors")
    again = Mixture.load(tmp_path / "m.safetensors")
    assert again.snapshots == mixture.snapshots
    assert set(again.predict(scores(X))) == {"no", "yes"}
    assert (again.predict(scores(X)) == mixture.predict(scores(X))).all()
    assert "fairgame" in mixture.rule.report()


def test_refused():
    X, data = people(50, 7)
    for more, said in [
        ({"algorithm": "plug_in"}, "practical"),
        ({"constraints": ["recal() >= 0.5"]}, "recall"),
        ({"surrogate": "hing"}, "hinge"),
        ({"constraint": {"step": 1}}, "step"),
        ({"turns": 0}, "turns"),
        ({"selection": "rule"}, "rule"),
        ({"weight": "w"}, "no weight column"),
    ]:
        with pytest.raises(ValueError, match=said):
            Game(data, **{"label": "hired", "constraints": [PARITY]} | more)
    game = Game(data, label="hired", constraints=[PARITY], turns=2)
    scores = np.zeros(50)
    for call, said in [
        (lambda: game.slopes(scores[:3]), "3 scores are given for 50 rows"),
        (lambda: game.slopes(scores[:1], [50]), "no row 50"),
        (lambda: game.slopes(scores[:1], [-1]), "no row -1"),
        (lambda: game.slopes(scores[:1], [0.5]), "numbers of rows"),
        (lambda: game.slopes(np.full(50, np.nan)), "diverged"),
        (lambda: game.slopes(np.zeros((50, 2))), "one number a row"),
        (lambda: game.keep(scores, scores), "the game has none"),
        (lambda: game.select(), "no model was kept"),
        (lambda: list(game.batches(10)), "call judge once in each turn"),
    ]:
        with pytest.raises(ValueError, match=said):
            call()
    game.keep(X[:, 0])
    game.judge(X[:, 0])
    game.judge(X[:, 0])
    with pytest.raises(ValueError, match="all 2 turns"):
        game.judge(X[:, 0])
    mixture = game.select()
    with pytest.raises(ValueError, match="the game is over"):
        game.judge(X[:, 0])
    with pytest.raises(ValueError, match="one column for each of 1 models"):
        mixture.predict(np.zeros((50, 2)))


def test_halves_keep_units_together():
    from fairgame._table import table
    from fairgame.arrays import _halves

    rng = np.random.default_rng(0)
    for person in (rng.integers(0, 50, 300).astype(float), np.array([f"p{one}" for one in rng.integers(0, 50, 300)])):
        first, second = _halves(table({"person": person}), "person", 3)
        assert sorted([*first, *second]) == list(range(300)) and 120 <= len(first) <= 180
        assert not set(person[first]) & set(person[second])
    missing = np.full(300, np.nan)
    missing[:10] = 1.0
    first, second = _halves(table({"person": missing}), "person", 3)
    assert 130 <= len(first) <= 170 and len({0 in first, *(at in first for at in range(10))}) == 1
    # Without a unit as it was.
    order = np.random.default_rng(4).permutation(11)
    assert [half.tolist() for half in _halves(table({"a": np.arange(11.0)}), None, 4)] == [
        sorted(order[:6]), sorted(order[6:])
    ]
    with pytest.raises(ValueError, match="no such column"):
        _halves(table({"a": [1.0]}), "b", 0)
