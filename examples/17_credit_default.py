"""Step 17: who will not pay? A pipeline with labels and numbers, on ten thousand encrypted customers."""

from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import ringmill as rm
from ringmill.studies.tables import default

X, y = default()
seen, unseen, y_seen, y_unseen = train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)
prepare = ColumnTransformer(
    [("student", OneHotEncoder(drop="first"), [0]), ("money", StandardScaler(), [1, 2])]
)
fitted = make_pipeline(prepare, LogisticRegression()).fit(seen, y_seen)

# Labels are looked up by the client, before encryption. What is encrypted are numbers.
model = rm.from_sklearn(fitted, seen, margin=0.3)
print(*model.notes, sep="\n")

report = model.report(unseen, y_unseen)
print(report)
assert not report.flips, "encryption changes no decision"

chances = model.predict_proba(unseen)[:, 1]
clear = fitted.predict_proba(unseen)[:, 1]
ranked = roc_auc_score(y_unseen, chances), roc_auc_score(y_unseen, clear)
print(f"area under the curve: {ranked[0]:.4f}, in the clear {ranked[1]:.4f}")
assert abs(chances - clear).max() < 1e-3
