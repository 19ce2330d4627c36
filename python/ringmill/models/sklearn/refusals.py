"""Why an estimator is not supported, and what to take instead: (reason, advice) by the name of the class."""

from __future__ import annotations

_NEIGHBOURS = (
    "it sorts distances to all training rows, and an encrypted order takes a comparison a pair",
    "Take SVC or KernelRidge with an RBF kernel, or NearestCentroid",
)
_NO_NEW_ROWS = ("it has no prediction for new rows", "Take KMeans")
_STEPS = (
    "its prediction depends on predictions of classes inside the model, which only the client can take",
    "Take OneVsRestClassifier, or one estimator an output",
)
_EMBEDDING = ("its transform is an optimisation, or sorts neighbours", "Take PCA or Nystroem")
_LABELS = ("it transforms labels, not features", "Apply it to the labels in the clear")
_TOPICS = ("its transform iterates until it converges", "Take TruncatedSVD")

REFUSED: dict[str, tuple[str, str]] = {
    "AdaBoostRegressor": (
        "its prediction is the weighted median of its trees, which an order of encrypted values would take",
        "Take GradientBoostingRegressor",
    ),
    "RandomTreesEmbedding": (
        "it gives a column for each leaf of a hundred trees",
        "Take RandomForestClassifier of a few trees",
    ),
    "IsotonicRegression": (
        "it is a table of one feature, with a corner at every step",
        "Take SplineTransformer and Ridge",
    ),
    **dict.fromkeys(
        [
            "KNeighborsClassifier",
            "KNeighborsRegressor",
            "KNeighborsTransformer",
            "RadiusNeighborsClassifier",
            "RadiusNeighborsRegressor",
            "RadiusNeighborsTransformer",
            "LabelPropagation",
            "LabelSpreading",
            "LocalOutlierFactor",
        ],
        _NEIGHBOURS,
    ),
    **dict.fromkeys(
        [
            "AgglomerativeClustering",
            "DBSCAN",
            "HDBSCAN",
            "OPTICS",
            "SpectralClustering",
            "TSNE",
            "SpectralEmbedding",
            "MDS",
        ],
        _NO_NEW_ROWS,
    ),
    **dict.fromkeys(("ClassifierChain", "OutputCodeClassifier"), _STEPS),
    **dict.fromkeys(("Isomap", "LocallyLinearEmbedding", "SparseCoder"), _EMBEDDING),
    **dict.fromkeys(("LabelBinarizer", "LabelEncoder", "MultiLabelBinarizer"), _LABELS),
    **dict.fromkeys(
        [
            "LatentDirichletAllocation",
            "NMF",
            "MiniBatchNMF",
            "DictionaryLearning",
            "MiniBatchDictionaryLearning",
            "SparsePCA",
            "MiniBatchSparsePCA",
        ],
        _TOPICS,
    ),
    "GaussianProcessClassifier": ("its prediction is an integral of a latent function", "Take SVC"),
    "DummyClassifier": ("it does not look at the features", "Nothing needs encryption here"),
    "DummyRegressor": ("it does not look at the features", "Nothing needs encryption here"),
    "PolynomialCountSketch": ("its transform is a product of Fourier transforms", "Take PolynomialFeatures"),
    **dict.fromkeys(
        [
            "EmpiricalCovariance",
            "GraphicalLasso",
            "GraphicalLassoCV",
            "LedoitWolf",
            "MinCovDet",
            "OAS",
            "ShrunkCovariance",
            "KernelDensity",
        ],
        ("it estimates a distribution, and predicts nothing for a row", "Take GaussianNB or OneClassSVM"),
    ),
    **dict.fromkeys(("SpectralBiclustering", "SpectralCoclustering", "ClassicalMDS"), _NO_NEW_ROWS),
    "NearestNeighbors": _NEIGHBOURS,
    "BisectingKMeans": ("it goes down a tree of centres, at each of which it would compare", "Take KMeans"),
    "PatchExtractor": ("it draws patches from images at random", "Extract patches at the client"),
}
