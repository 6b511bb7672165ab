# %% [markdown]
# # Coming from fairlearn
#
# | fairlearn | fairgame |
# |---|---|
# | `DemographicParity(difference_bound=0.05)` | `positive_rate(each group) == positive_rate() within 0.05` |
# | `DemographicParity(ratio_bound=0.8)` | `positive_rate(each group) >= 0.8 * positive_rate()`, and for the other side `positive_rate() >= 0.8 * positive_rate(each group)` |
# | `TruePositiveRateParity(difference_bound=0.05)` | `tpr(each group) == tpr() within 0.05` |
# | `FalsePositiveRateParity(difference_bound=0.05)` | `fpr(each group) == fpr() within 0.05` |
# | `EqualizedOdds(difference_bound=0.05)` | the two lines above, both |
# | `ErrorRateParity(difference_bound=0.05)` | `error(each group) == error() within 0.05` |
# | `BoundedGroupLoss(ZeroOneLoss(), upper_bound=0.1)` | `error(each group) <= 0.1` |
# | `ErrorRate(costs={"fp": 0.7, "fn": 0.3})` | `objective="0.7 * fpr() + 0.3 * fnr()"` (shares of their own class each) |
# | `ExponentiatedGradient(estimator, constraint).fit(X, y, sensitive_features=g)` | `FairGameClassifier([constraint]).fit(X, y, sensitive_features=g)` |
# | `predict(X, random_state=…)`, drawn anew by each call | `predict(X)`: the same row is always decided the same way |
# | `_pmf_predict(X)` | `predict_proba(X)` |
# | `MetricFrame(metrics=…, sensitive_features=g)` | `evaluate(X, y, sensitive_features=g)`, with intervals and verdicts |
#
# What is different: the constraints are enforced on rows that the model does not learn from, so that they carry over;
# the classifier is a mixture of a few models of the game, not of estimators fitted one after another; and groups may
# be any conditions on columns, which may overlap.

# %%
import warnings

import numpy as np

import fairgame
from fairgame import FairGameClassifier, rates

warnings.simplefilter("ignore", fairgame.FairGameWarning)

people = fairgame.dataset("compas")
X = people[["age", "priors_count", "c_charge_degree", "juv_fel_count"]]
y, race = people["two_year_recid"] == 1, people["race"].astype(str)
race = np.where(race.isin(["African-American", "Caucasian"]), race, "Other")

# %%
group = rates.each("group")
equalized_odds = [rates.tpr(group).within(0.05, of=rates.tpr()), rates.fpr(group).within(0.05, of=rates.fpr())]
print(*equalized_odds, sep="\n")
half = np.arange(len(y)) % 2 == 0
model = FairGameClassifier(equalized_odds, random_state=0)
model.fit(X[half], y[half], sensitive_features=race[half])
print(model.evaluate(X[~half], y[~half], sensitive_features=race[~half]))

# %% [markdown]
# The same with fairlearn, if it is installed.

# %%
try:
    from fairlearn.reductions import EqualizedOdds, ExponentiatedGradient
except ModuleNotFoundError:
    print("\nfairlearn is not installed: pip install fairlearn")
else:
    import pandas as pd
    from sklearn.linear_model import LogisticRegression

    dense = pd.get_dummies(X.assign(c_charge_degree=X["c_charge_degree"].astype(str))).astype(float)
    theirs = ExponentiatedGradient(LogisticRegression(max_iter=1000), EqualizedOdds(difference_bound=0.05))
    theirs.fit(dense[half], y[half].astype(int), sensitive_features=race[half])
    chance = theirs._pmf_predict(dense[~half])[:, 1]
    table = {"group": race[~half], "recid": y[~half].to_numpy()}
    print("\nfairlearn:", fairgame.audit(table, chance, label="recid", constraints=equalized_odds))
