"""Step 11: a neural network looks at pictures it cannot see."""

import numpy as np

import ringmill as rm
from ringmill.studies.workloads.network import Network, classify
from ringmill.studies.workloads.records import digits

# 100 handwritten digits that the network has not met. One ciphertext holds one pixel of all of them.
data, network = digits(), Network.load()
images, labels = data.unseen[:100], data.unseen_labels[:100]

compiled = classify.compile(rm.matrix(100, 64, packing="columns"), network, precision=12)
print(f"{compiled.plan.depth} levels; keys: {compiled.keys_needed}")
print(compiled.params)

scores = compiled.run(images=images)
clear = network.scores(images)
print(f"right: {np.mean(scores.argmax(axis=1) == labels):.0%} of 100")
print(f"largest difference from the scores in the clear: {np.max(np.abs(scores - clear)):.1e}")
assert np.array_equal(scores.argmax(axis=1), clear.argmax(axis=1))
