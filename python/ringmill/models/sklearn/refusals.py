"""Why an estimator is not supported, and what to take instead: (reason, advice) by the name of the class."""

from __future__ import annotations

_TREES = (
    "its splits are comparisons, each of a dozen levels, and every tree has many",
    "Take SVC with an RBF kernel, or MLPClassifier with activation='tanh'",
)
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
    **dict.fromkeys(
        [
            "DecisionTreeClassifier",
            "DecisionTreeRegressor",
            "ExtraTreeClassifier",
            "ExtraTreeRegressor",
            "ExtraTreesClassifier",
            "ExtraTreesRegressor",
            "GradientBoostingClassifier",
            "GradientBoostingRegressor",
            "HistGradientBoostingClassifier",
            "HistGradientBoostingRegressor",
            "RandomForestClassifier",
            "RandomForestRegressor",
            "RandomTreesEmbedding",
            "AdaBoostClassifier",
            "AdaBoostRegressor",
            "IsolationForest",
            "IsotonicRegression",
        ],
        _TREES,
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
            "AffinityPropagation",
            "MeanShift",
            "Birch",
            "BisectingKMeans",
            "FeatureAgglomeration",
            "TSNE",
            "SpectralEmbedding",
            "MDS",
        ],
        _NO_NEW_ROWS,
    ),
    **dict.fromkeys(
        ("ClassifierChain", "RegressorChain", "OneVsOneClassifier", "OutputCodeClassifier"), _STEPS
    ),
    **dict.fromkeys(
        ("Isomap", "LocallyLinearEmbedding", "SparseCoder", "KernelPCA", "KernelCenterer"), _EMBEDDING
    ),
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
            "BernoulliRBM",
        ],
        _TOPICS,
    ),
    "BernoulliNB": (
        "it cuts every feature at a threshold",
        "Binarise at the client and take LogisticRegression",
    ),
    "CategoricalNB": ("it looks categories up in a table", "Encode them and take LogisticRegression"),
    "GaussianProcessClassifier": ("its prediction is an integral of a latent function", "Take SVC"),
    "GaussianProcessRegressor": ("its kernels are trees of objects", "Take KernelRidge with an RBF kernel"),
    "DummyClassifier": ("it does not look at the features", "Nothing needs encryption here"),
    "DummyRegressor": ("it does not look at the features", "Nothing needs encryption here"),
    "PolynomialCountSketch": ("its transform is a product of Fourier transforms", "Take PolynomialFeatures"),
    **dict.fromkeys(
        [
            "EllipticEnvelope",
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
    **dict.fromkeys(
        ("GaussianMixture", "BayesianGaussianMixture"),
        ("it sums likelihoods of components", "Take KMeans or QuadraticDiscriminantAnalysis"),
    ),
    **dict.fromkeys(("SpectralBiclustering", "SpectralCoclustering", "ClassicalMDS"), _NO_NEW_ROWS),
    "NearestNeighbors": _NEIGHBOURS,
    "SGDOneClassSVM": ("its decision is not converted yet", "Take OneClassSVM"),
    "PatchExtractor": ("it draws patches from images at random", "Extract patches at the client"),
}
