"""scikit-learn's own manners."""

import pickle

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from fairgame import FairGameClassifier

from conftest import FEW


# Rows are divided and drawn into minibatches one by one, so that a row of weight two is not drawn as two rows would
# be: in the long run they come to the same, but not to the bit. scikit-learn's own SGDClassifier expects it too.
DRAWN = "rows are drawn at random: a weight of two counts as two rows do, but is not drawn as they are"
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": DRAWN,
    "check_sample_weight_equivalence_on_sparse_data": DRAWN,
}


# Without constraints, a game of turns takes one model, and ten of these fifty rows say which turn.
FEW_ROWS = "class weights weigh the objective, which is measured on ten rows here; trees pass this check"


def expected(estimator):
    turns = estimator.algorithm != "auto"
    return EXPECTED | ({"check_class_weight_classifiers": FEW_ROWS} if turns else {})


@parametrize_with_checks(
    [FairGameClassifier(algorithm={"practical": {"turns": 2000}}), FairGameClassifier(deterministic=True)],
    expected_failed_checks=expected,
)
def test_estimator_checks(estimator, check):
    """All of scikit-learn's, but for what is expected above."""
    check(estimator)


def test_clone_and_pickle(people):
    X, y, _ = people
    fitted = FairGameClassifier(["recall() >= 0.8"], algorithm=FEW, random_state=3).fit(X, y)
    again = clone(fitted).fit(X, y)
    restored = pickle.loads(pickle.dumps(fitted))
    for other in (again, restored):
        assert np.array_equal(other.decision_function(X), fitted.decision_function(X))
        assert np.array_equal(other.predict(X), fitted.predict(X))
    assert restored.get_params() == fitted.get_params()
    assert restored.multipliers_ == fitted.multipliers_


def test_search_and_pipeline(people):
    X, y, _ = people
    search = GridSearchCV(
        make_pipeline(StandardScaler(), FairGameClassifier(["recall() >= 0.8"], algorithm=FEW)),
        {"fairgameclassifier__model": ["linear", {"mlp": {"units": 8}}]},
        cv=3,
        n_jobs=2,
    ).fit(X, y)
    assert search.best_score_ > 0.6
    assert cross_val_score(FairGameClassifier(algorithm=FEW), X, y, cv=3).mean() > 0.6


def test_metadata_routing(people):
    X, y, group = people
    with sklearn.config_context(enable_metadata_routing=True):
        classifier = FairGameClassifier(["recall(each group) >= 0.6"], algorithm=FEW)
        classifier.set_fit_request(sensitive_features=True, sample_weight=True)
        classifier.set_score_request(sample_weight=True)
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), classifier)
        for model in (classifier, pipeline):
            params = {"sensitive_features": group, "sample_weight": np.ones(len(y))}
            assert cross_val_score(model, X, y, cv=3, params=params).mean() > 0.5


def test_random_states(people):
    X, y, _ = people
    fit = lambda state: FairGameClassifier(["recall() >= 0.8"], algorithm=FEW, random_state=state).fit(X, y)
    scores = lambda state: fit(state).decision_function(X)
    assert np.array_equal(scores(None), scores(0))
    assert not np.array_equal(scores(1), scores(0))
    assert np.array_equal(scores(np.random.RandomState(5)), scores(np.random.RandomState(5)))
    with pytest.raises(ValueError, match="at least 0"):
        fit(-1)
