"""A type checker knows the package, and `n_jobs` is what scikit-learn means by it."""

import inspect
import os
import pathlib

import joblib
import pytest

import fairgame
from fairgame import FairGameClassifier, _arguments

SCRIPT = '''
import fairgame
from fairgame import FairGameClassifier, rates

rule = rates.positive_rate(rates.each("sex")) >= 0.8 * rates.positive_rate()
table = {"sex": ["f", "m"], "skill": [0.1, 0.2]}
model = FairGameClassifier([rule, "recall() >= 0.5"], margin="95%", class_weight="balanced", n_jobs=-1)
fitted: FairGameClassifier = model.fit(table, ["no", "yes"], sensitive_features="sex", sample_weight=[1.0, 2.0])
decided = fitted.predict(table, keys=["a", "b"])
weights, decisions, scores = fitted.decision_distribution(table)
found: fairgame.Evaluation = fitted.evaluate(table, ["no", "yes"], unit=[1, 2])
verdict: str = found.verdict
prices: dict[str, float] = fitted.prices_
fitted.save("m.safetensors", estimators="skops")
loaded: FairGameClassifier = fairgame.load("m.safetensors", trusted=["a.B"])
score = fairgame.scorer([rule], penalty=2.0)
value: float = score(fitted, table, ["no", "yes"], sensitive_features=None)
adjusted = fairgame.adjust([0.1, 0.9], table, label="sex == 'f'", constraints=[rule], scale="log_odds")
audited = fairgame.audit(table, [0, 1], label="sex == 'f'", constraints=[rule], positive=1)
trained = fairgame.train({"label": "sex == 'f'"}, table, margin=1)
page: str | None = trained.report()
axes = fairgame.plot.constraints(audited)
print(decided.shape, verdict, fairgame.evaluate(trained, table).worst, prices, value, adjusted.classes_)
'''

WRONG = {
    "sensitive_feature": 'model.fit(table, ["no", "yes"], sensitive_feature="sex")',
    "constraint": "FairGameClassifier(constraint=[rule])",
    "key": "model.predict(table, key=[1])",
    "penalties": "fairgame.scorer([rule], penalties=1)",
    "scal": 'fairgame.adjust([0.1], table, label="a", constraints=[], scal="log_odds")',
    "trust": 'fairgame.load("m.safetensors", trust=[])',
    "estimator": 'model.save("m.safetensors", estimator="skops")',
}


def checked(script, place):
    api = pytest.importorskip("mypy.api")
    path = place / "script.py"
    path.write_text(script)
    printed, failed, code = api.run(["--strict", "--cache-dir", str(place / "cache"), str(path)])
    assert not failed
    return printed, code


def test_a_script_is_checked(tmp_path):
    printed, code = checked(SCRIPT, tmp_path)
    assert code == 0, printed
    printed, code = checked(SCRIPT + "\n".join(WRONG.values()) + "\nfairgame.adjst\n", tmp_path)
    assert code == 1
    for name in WRONG:
        assert f'Unexpected keyword argument "{name}"' in printed, printed
    assert 'Module has no attribute "adjst"' in printed
    assert printed.count("error:") == len(WRONG) + 1, printed


def test_everything_public_has_types():
    assert pathlib.Path(fairgame.__file__).with_name("py.typed").exists()
    functions = [value for name in fairgame.__all__ if inspect.isfunction(value := getattr(fairgame, name))]
    kinds = [value for name in fairgame.__all__ if inspect.isclass(value := getattr(fairgame, name))]
    for kind in [one for one in kinds if one.__module__.startswith("fairgame._") and one is not fairgame.Table]:
        own = [base for base in kind.__mro__ if base.__module__.startswith("fairgame.")]
        functions += [one for base in own for name, one in vars(base).items() if inspect.isfunction(one) and name[0] != "_"]
    assert len(functions) > 15
    for function in functions:
        given = inspect.signature(function)
        assert given.return_annotation is not inspect.Signature.empty, function
        for name, parameter in given.parameters.items():
            assert name in ("self", "cls") or parameter.annotation is not inspect.Parameter.empty, (function, name)


def test_threads():
    assert _arguments.threads(None) == 1 and _arguments.threads(3) == 3
    assert _arguments.threads(-1) == joblib.effective_n_jobs(-1) >= 1
    assert _arguments.threads(-(os.cpu_count() or 1) - 5) == 1
    with joblib.parallel_config(n_jobs=3):
        assert _arguments.threads(None) == 3 and _arguments.threads(2) == 2
    with pytest.raises(ValueError, match="n_jobs"):
        FairGameClassifier(n_jobs=0).fit([[0.0], [1.0]], [0, 1])
