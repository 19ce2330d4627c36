"""Step 18: who insures a caravan? Boosted trees on encrypted households, and what a split costs."""

import numpy as np
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

import ringmill as rm
from ringmill.studies.tables import caravan

X, y, names = caravan()
seen, unseen, y_seen, y_unseen = train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)
whole = GradientBoostingClassifier(n_estimators=8, max_depth=2, random_state=0).fit(seen, y_seen)

# Trees look at a few of the 85 numbers. The others need not be sent.
used = np.flatnonzero(whole.feature_importances_)
print("asked for:", ", ".join(names[feature] for feature in used))
fitted = GradientBoostingClassifier(n_estimators=8, max_depth=2, random_state=0).fit(seen[:, used], y_seen)

model = rm.from_sklearn(fitted, X[:, used], precision=12, error=1e-2)
print("known before anything is encrypted:", model.cost)
print("polynomials:", model.functions)

report = model.report(unseen[:, used], y_unseen)
print(report)
scores, clear = (
    model.approximated(unseen[:, used], "decision_function"),
    fitted.decision_function(unseen[:, used]),
)
ranked = roc_auc_score(y_unseen, scores), roc_auc_score(y_unseen, clear)
print(f"area under the curve: {ranked[0]:.4f} by polynomials, {ranked[1]:.4f} by the trees")
assert abs(ranked[0] - ranked[1]) < 0.01
assert len(report.flips) <= 0.01 * report.rows
