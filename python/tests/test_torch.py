"""Modules of torch under constraints. `make test-torch` runs this; torch is too large for `make test`."""

import inspect

import numpy as np
import pandas as pd
import pytest

import fairgame
from fairgame import FairGameClassifier

torch = pytest.importorskip("torch")

import fairgame.torch  # noqa: E402

PARITY = "positive_rate(each sex) >= 0.8 * positive_rate()"


def people(rows, seed):
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], size=rows, p=[0.4, 0.6])
    skill = rng.normal(size=rows) + 0.8 * (sex == "m")
    X = np.column_stack([skill, rng.normal(size=rows), sex == "m"]).astype(np.float32)
    return torch.from_numpy(X), {"sex": sex, "hired": skill + 0.5 * rng.normal(size=rows) > 1.0}


def network(inputs, units=8, seed=0):
    torch.manual_seed(seed)
    module = torch.nn.Sequential(torch.nn.Linear(inputs, units), torch.nn.ReLU(), torch.nn.Linear(units, 1))
    for layer in (module[0], module[2]):
        torch.nn.init.xavier_uniform_(layer.weight)
        torch.nn.init.zeros_(layer.bias)
    return module


def loop(module, X, X_val, table, others, turns, **settings):
    game = fairgame.torch.Game(table, validation=others, turns=turns, **settings)
    optimizer = torch.optim.Adam(module.parameters())
    for rows, judging in game.batches(100):
        if game.keeps:
            game.keep(module, X, X_val)
        loss = game.loss(module(X[rows]), rows)
        game.judge(module(X_val[judging]), judging)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return game.select()


def test_the_loop_is_short():
    assert len(inspect.getsource(loop).splitlines()) <= 25


@pytest.mark.parametrize("surrogate", ["hinge", "sigmoid"])
def test_slopes_are_those_of_autograd(surrogate):
    h = {"hinge": lambda f: torch.clamp(1 + f, min=0), "sigmoid": torch.sigmoid}[surrogate]
    rng = np.random.default_rng(1)
    _, data = people(200, 1)
    sex, label = data["sex"], torch.from_numpy(data["hired"])
    rules = [PARITY, "recall() >= 0.9"]
    game = fairgame.torch.Game(data, label="hired", constraints=rules, surrogate=surrogate, recipe="paper")
    for _ in range(5):
        game.judge(rng.normal(size=200))
    scores = torch.tensor(rng.normal(size=200), dtype=torch.float64, requires_grad=True)
    objective, by = game.multipliers
    # From the definitions: a positive coefficient counts by h(f), a negative one by 1 - h(-f).
    coefficients = [np.where(data["hired"], -1.0, 1.0) / 200]
    coefficients += [0.8 / 200 - (sex == one) / (sex == one).sum() for one in ("f", "m")]
    coefficients += [-1.0 * data["hired"] / data["hired"].sum()]
    value = objective * label.double().mean() + by[2] * 0.9
    for weight, own in zip([objective, *by], coefficients):
        own = torch.tensor(own)
        value = value + weight * torch.where(own > 0, own * h(scores), own * (1 - h(-scores))).sum()
    value.backward()
    assert abs(game.loss(scores.detach()).item() - value.item()) < 1e-6
    assert (game.slopes(scores.detach()) - scores.grad).abs().max() < 1e-6
    # As a loss, and through a module.
    again = scores.detach().requires_grad_()
    game.loss(again).backward()
    assert (again.grad - scores.grad).abs().max() < 1e-6


@pytest.mark.parametrize("algorithm", ["practical", "lagrangian"])
def test_fit(algorithm, tmp_path):
    (X, data), (fresh, truth) = people(4000, 2), people(20000, 3)
    step = {"adam": {"step": 0.01}}
    for datasets in ("one", "two"):
        classifier = fairgame.torch.fit(
            network(3), X, data, label="hired", constraints=[PARITY], algorithm=algorithm, datasets=datasets, turns=1500,
            constraint=step if algorithm == "lagrangian" else {"optimizer": step}, margin=1,
            optimizer=lambda parameters: torch.optim.Adam(parameters, lr=0.01),
        )
        found = classifier.evaluate(fresh, truth)
        assert max(one["value"] for one in found.constraints) < 0.02
        assert found.error < 0.25
    assert classifier.standing_ == "enforced"
    decided = classifier.predict(fresh)
    # One row at a time, other sums of floats: the same decisions.
    assert (classifier.predict(fresh[:50]) == decided[:50]).all()
    assert abs(decided.mean() - classifier.predict_proba(fresh)[:, 1].mean()) < 0.01
    path = tmp_path / "m.safetensors"
    classifier.save(path)
    again = fairgame.torch.load(path, network(3, seed=9))
    assert (again.predict(fresh) == decided).all()
    with pytest.raises(ValueError, match="another one than was saved"):
        fairgame.torch.load(path, network(4))
    with pytest.raises(ValueError, match="fairgame.torch.load"):
        FairGameClassifier.load(path)
    [beside] = tmp_path.glob("m.safetensors.????????.torch")
    beside.write_bytes(beside.read_bytes()[:-1] + b"x")
    with pytest.raises(ValueError, match="SHA-256"):
        fairgame.torch.load(path, network(3))


def test_datasets_and_loaders():
    X, data = people(1000, 4)
    rows = torch.utils.data.TensorDataset(X, torch.zeros(1000))
    settings = dict(label="hired", constraints=[PARITY], turns=200, keep=10, random_state=1)
    of = {
        "tensor": X,
        "array": X.numpy(),
        "dataset": torch.utils.data.Subset(rows, range(1000)),
        "loader": torch.utils.data.DataLoader(rows, batch_size=100),
    }
    chances = [
        fairgame.torch.fit(network(3), one, data, **settings).predict_proba(X)[:, 1] for one in of.values()
    ]
    assert all(np.allclose(chances[0], one) for one in chances)
    for wrong, said in [
        (lambda: fairgame.torch.fit(network(3), X[:9], data, **settings), "9 rows, and the table 1000"),
        (lambda: fairgame.torch.fit(network(3), X, data, datasets="three", **settings), "datasets is"),
        (lambda: fairgame.torch.fit(torch.nn.Linear(3, 2), X, data, **settings), "one score per row"),
        (lambda: fairgame.torch.Game(data, label="hired", constraints=[PARITY]).keep(network(3), X, X), "no validation"),
    ]:
        with pytest.raises(ValueError, match=said):
            wrong()


def adult():
    """Adult as numbers: categories as indicators, numbers standardised by the training rows."""
    train, test = fairgame.dataset("adult"), fairgame.dataset("adult/test")
    both = pd.concat([train, test]).drop(columns=["income", "fnlwgt"])
    numbers = both.select_dtypes("number")
    numbers = (numbers - numbers[: len(train)].mean()) / numbers[: len(train)].std()
    others = pd.get_dummies(both.select_dtypes(exclude="number").astype(object), dummy_na=False)
    inputs = torch.tensor(pd.concat([numbers, others], axis=1).to_numpy(dtype=np.float32))
    return inputs[: len(train)], inputs[len(train) :], train, test


def test_adult_beside_our_own_network():
    """The same recipe: two halves, Algorithm 3, 50 units, 10,000 turns of 100 rows, the paper's selection."""
    X, X_test, train, test = adult()
    turns, found = 10000, {"torch": [], "own": []}
    problem = dict(label='income == ">50K"', constraints=[PARITY], recipe="paper")
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(train))
        first, second = np.sort(order[: len(order) // 2]), np.sort(order[len(order) // 2 :])
        module = network(X.shape[1], 50, seed)
        tables = (train.iloc[first], train.iloc[second])
        model = loop(module, X[first], X[second], *tables, turns, random_state=seed, **problem)
        found["torch"].append(model.evaluate(X_test, test))
        own = FairGameClassifier(
            [PARITY], model="mlp", recipe="paper", algorithm={"practical": {"turns": turns}}, random_state=seed
        )
        features = [one.drop(columns=["income", "fnlwgt"]) for one in (*tables, test)]
        own.fit(features[0], tables[0]["income"], validation=(features[1], tables[1]["income"]))
        found["own"].append(own.evaluate(features[2], test["income"]))
    errors = {name: np.array([one.error for one in all]) for name, all in found.items()}
    worst = {name: np.array([max(c["value"] for c in one.constraints) for one in all]) for name, all in found.items()}
    for what, values in (("error", errors), ("violation", worst)):
        gap = values["torch"] - values["own"]
        noise = gap.std(ddof=1) / len(gap) ** 0.5
        print(f"{what}: torch {values['torch'].mean():.4f}, own {values['own'].mean():.4f}, gap {gap.mean():+.4f} ± {noise:.4f}")
        assert abs(gap.mean()) < 3 * noise + 0.002
