"""Step 12: learning from records that stay encrypted."""

import numpy as np

import ringmill as rm
from ringmill.studies.workloads.records import tumours
from ringmill.studies.workloads.training import Schedule, accuracy, padded, prepared, train, train_clear

# The client's records: 120 tumours, seven measurements of each, and whether it was benign.
data = tumours()
data = data._replace(seen=data.seen[:120, :7], seen_labels=data.seen_labels[:120], unseen=data.unseen[:, :7])
z = prepared(data.seen, data.seen_labels)
print(f"{len(z)} records, one ciphertext")

# Every step of Nesterov's method takes four levels, the first one.
schedule = Schedule(steps=3, rate=4.0)
compiled = train.compile(rm.matrix(128, 8), len(z), schedule, precision=10)
print(f"{schedule.steps} steps: {compiled.plan.depth} levels, {compiled.params}")

# The server sees neither records nor weights. Every row of the result holds the weights.
weights = compiled.run(z=padded(z))[0]
clear = train_clear(z, schedule)
print(f"judged rightly, of {len(data.unseen)} new records: {accuracy(weights, data):.1%}")
print(f"largest difference from the same steps in the clear: {np.max(np.abs(weights - clear)):.1e}")
assert accuracy(weights, data) == accuracy(clear, data)
