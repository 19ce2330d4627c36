"""Step 19: a network from an ONNX file reads encrypted digits, six hundred at once."""

import tempfile
from pathlib import Path

import numpy as np
import onnx

import ringmill as rm
from ringmill.studies.digits_network import clear, network, small

images, labels = small()
seen, unseen = images[:1200], images[1200:]

# Convolution, squares, weights: fitted here, and brought as any exporter would bring it.
fitted = network(seen, labels[:1200], size=3, stride=1, kernels=4)
with tempfile.TemporaryDirectory() as folder:
    onnx.save(fitted, Path(folder) / "digits.onnx")
    model = rm.from_onnx(Path(folder) / "digits.onnx", seen, precision=12, outside="clip")
    alone = rm.from_onnx(Path(folder) / "digits.onnx", seen, precision=12, outside="clip", rows=1)

print(f"{model.features.count} pixels, of which {len(model.features.varying)} vary; {model.cost}")
scores, own = model.predict(unseen), clear(fitted, unseen)
right = np.mean(scores.argmax(axis=1) == labels[1200:])
print(f"right: {right:.1%} of {len(unseen)}; in the clear {np.mean(own.argmax(axis=1) == labels[1200:]):.1%}")
print(f"largest difference from the scores in the clear: {np.max(np.abs(scores - own)):.1e}")
assert right > 0.9
assert np.mean(scores.argmax(axis=1) != own.argmax(axis=1)) <= 0.01

# For one image, all of its pixels go into one ciphertext: less to send, and a faster answer.
for kind, made in (("many images", model), ("one image", alone)):
    sent = len(made.encrypt(made.keys.public, unseen[:1]).to_bytes())
    took = 1e3 * made.cost["seconds"]
    print(f"{kind}: {made.layout}, {sent / 1e6:.2f} MB, {took:.1f} ms predicted to evaluate")
for stage in alone.stages:
    where = "where operands stand" if stage.kept else "close together"
    print(f"  {stage.name}: {len(stage.places)} values, {where}, {stage.diagonals} diagonals")
assert np.max(np.abs(alone.predict(unseen[:1]) - own[:1])) < 1e-2
