"""Kernels ready to use: the nine of coxHE's Table II, logistic regression, and functions."""

from ringmill.kernels.functions import Absolute, Compare, Inverse, Sign, Softmax, SquareRoot
from ringmill.kernels.logistic import logistic_regression, sigmoid
from ringmill.kernels.table2 import (
    NINE,
    PaperKernel,
    average_pool,
    dot_cipher_batch_axis,
    dot_plain_batch_axis,
    mat_mult_val,
)

__all__ = [
    "NINE",
    "Absolute",
    "Compare",
    "Inverse",
    "PaperKernel",
    "Sign",
    "Softmax",
    "SquareRoot",
    "average_pool",
    "dot_cipher_batch_axis",
    "dot_plain_batch_axis",
    "logistic_regression",
    "mat_mult_val",
    "sigmoid",
]
