"""An estimator that fits another one and predicts as its encrypted model does, in the clear."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils.metaestimators import available_if


def _has(name: str) -> Any:
    def there(self: Approximated) -> bool:
        inner = getattr(self, "estimator_", self.estimator)
        return hasattr(inner, name)

    return there


class Approximated(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A model with its polynomials but without encryption, for ``cross_val_score`` and ``GridSearchCV``.

    What it scores is what the encrypted model scores, up to the error of encryption, in the time of NumPy.

    Args:
        estimator: to be fitted.
        error, margin: as of `from_sklearn`; rows outside of the calibrated ranges are clipped.
    """

    def __init__(self, estimator: Any = None, *, error: float = 1e-3, margin: float = 0.1) -> None:
        self.estimator = estimator
        self.error = error
        self.margin = margin

    def fit(self, X: Any, y: Any = None, **options: Any) -> Approximated:
        """Fit a copy of the estimator, and calibrate with the same rows."""
        from ringmill.models.fitted import from_sklearn

        self.estimator_ = clone(self.estimator).fit(X, y, **options)
        self.model_ = from_sklearn(self.estimator_, X, error=self.error, margin=self.margin, outside="clip")
        if hasattr(self.estimator_, "classes_"):
            self.classes_ = self.estimator_.classes_
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        from sklearn.utils import get_tags

        inner = get_tags(self.estimator)
        tags.estimator_type, tags.classifier_tags = inner.estimator_type, inner.classifier_tags
        tags.regressor_tags = inner.regressor_tags
        return tags

    @available_if(_has("predict"))  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> Any:
        """Predictions with polynomials."""
        return self.model_.approximated(X, "predict")

    @available_if(_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Probabilities with polynomials."""
        return self.model_.approximated(X, "predict_proba")

    @available_if(_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        """Decisions with polynomials."""
        return self.model_.approximated(X, "decision_function")

    @available_if(_has("transform"))  # type: ignore[untyped-decorator]
    def transform(self, X: Any) -> Any:
        """Transformed rows with polynomials."""
        return self.model_.approximated(X, "transform")

    @available_if(_has("score"))  # type: ignore[untyped-decorator]
    def score(self, X: Any, y: Any) -> float:
        """The estimator's own score, of the predictions with polynomials."""
        from sklearn.base import is_regressor
        from sklearn.metrics import accuracy_score, r2_score

        measure = r2_score if is_regressor(self.estimator_) else accuracy_score
        return float(measure(y, self.predict(X)))
