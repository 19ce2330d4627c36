"""Workloads: clear forms against definitions and finite differences, encrypted ones against clear ones."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import ringmill as rm
from ringmill import memory
from ringmill.studies.workloads import fit_network, records, training
from ringmill.studies.workloads.network import Network, classify
from ringmill.studies.workloads.run import WORKLOADS, Limits, run, run_network

Array = NDArray[np.float64]


def by_definition(network: Network, image: Array) -> Array:
    """Scores of one image (8, 8) by loops over places and channels."""
    pooled = np.zeros((3, 3, network.channels))
    for i, j, c in np.ndindex(6, 6, network.channels):
        window = image[i : i + 3, j : j + 3].reshape(-1)
        pooled[i // 2, j // 2, c] += (sum(window * network.kernels[:, c]) + network.kernel_bias[c]) ** 2 / 4
    units = pooled.reshape(-1) @ network.hidden + network.hidden_bias
    return np.asarray((units**2) @ network.output + network.output_bias)


def test_network_scores_are_those_of_the_definition() -> None:
    network, images = Network.load(), records.digits().unseen[:5]
    expected = [by_definition(network, image.reshape(8, 8)) for image in images]
    np.testing.assert_allclose(network.scores(images), expected, rtol=1e-12)
    np.testing.assert_allclose(classify(images, network), expected, rtol=1e-12)


def test_the_network_that_ships_knows_digits() -> None:
    split = records.digits()
    right = np.mean(Network.load().scores(split.unseen).argmax(axis=1) == split.unseen_labels)
    assert right >= 0.96
    assert not {image.tobytes() for image in split.seen} & {image.tobytes() for image in split.unseen}


def test_training_of_the_network_follows_the_slope() -> None:
    random = np.random.default_rng(3)
    parts = fit_network.start(random)
    images, labels = records.digits().seen[:7], records.digits().seen_labels[:7]

    def loss(parts: dict[str, Array]) -> float:
        scores = Network(**parts).scores(images)
        shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        return -float(np.mean(np.log(shares[np.arange(7), labels])))

    slopes = fit_network.gradient(parts, images, labels)
    for name, value in parts.items():
        way = random.normal(size=value.shape)
        rise = loss({**parts, name: value + 1e-5 * way}) - loss({**parts, name: value - 1e-5 * way})
        assert np.sum(slopes[name] * way) == pytest.approx(rise / 2e-5, rel=1e-6, abs=1e-9), name


def test_encrypted_digits_are_judged_as_clear_ones() -> None:
    facts = run_network(images=24)
    assert facts["right, encrypted"] == facts["right, in the clear"]
    # The scores are known to 12 bits, but the prediction must hold too.
    assert float(facts["error"].removeprefix("2^")) < float(facts["predicted error"].removeprefix("2^"))
    assert facts["levels"] == 5


def test_a_run_keeps_to_its_threads_and_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads reach the machine, and what is asked for is what the process then takes, within a few parts."""
    asked = []
    real = rm.Compiled.evaluate
    monkeypatch.setattr(
        rm.Compiled, "evaluate", lambda *a, **options: asked.append(options) or real(*a, **options)
    )
    monkeypatch.setattr(memory, "check", lambda what, parts, limit, *_: asked.append((parts, limit)))
    monkeypatch.setattr(memory, "room", lambda *_: None)  # what keygen and evaluate ask for again
    before = memory.held()
    run_network("none", Limits(threads=1, memory=4e9), images=24)
    (parts, limit), options = asked
    assert (limit, options) == (4e9, {"machine": rm.machines.cpu(threads=1)})
    taken = memory.held() - before
    assert taken < 1.3 * sum(parts.values()), (taken, parts)


def small() -> tuple[Array, Any]:
    split = records.tumours()
    split = split._replace(seen=split.seen[:61, :15], seen_labels=split.seen_labels[:61])
    return training.prepared(split.seen, split.seen_labels), split._replace(unseen=split.unseen[:, :15])


def test_a_step_of_training_is_one_down_the_loss() -> None:
    z, _ = small()
    one = training.Schedule(steps=1, rate=0.5)
    found = training.train_clear(z, one, exact=True)

    def loss(w: Array) -> float:
        return float(np.mean(np.log1p(np.exp(-(z @ w)))))

    for j, unit in enumerate(np.eye(z.shape[1]) * 1e-6):
        assert found[j] == pytest.approx(-0.5 * (loss(unit) - loss(-unit)) / 2e-6, rel=1e-6, abs=1e-9)


def test_training_nears_the_minimum_that_another_library_finds() -> None:
    from sklearn.linear_model import LogisticRegression

    _, split = small()
    # Some labels wrong on purpose: a loss that has a minimum.
    x, labels = split.seen, np.where(np.arange(61) % 7, split.seen_labels, 1 - split.seen_labels)
    z = training.prepared(x, labels)
    loss = lambda w: float(np.mean(np.log1p(np.exp(-(z @ w)))))  # noqa: E731
    fitted = LogisticRegression(C=1e6, max_iter=10_000).fit(x, labels)
    least = loss(np.concatenate([fitted.intercept_, fitted.coef_[0]]))
    losses = [
        loss(training.train_clear(z, training.Schedule(steps=n, rate=2.0), exact=True))
        for n in (1, 4, 16, 64, 5000)
    ]
    assert losses == sorted(losses, reverse=True)
    assert least <= losses[-1] < least + 1e-4


def test_the_kernel_takes_the_steps_of_the_textbook_in_four_levels_each() -> None:
    z, _ = small()
    for steps in (1, 2, 5):
        schedule = training.Schedule(steps=steps, rate=2.0)
        expected = training.train_clear(z, schedule)
        rows = training.train(training.padded(z), len(z), schedule)
        np.testing.assert_allclose(rows, np.broadcast_to(expected, rows.shape), atol=1e-12)
        traced = training.train.trace(rm.matrix(64, 16), len(z), schedule)
        assert traced.depth == 1 + 4 * (steps - 1)


def test_encrypted_training_gives_the_weights_of_clear_training() -> None:
    z, split = small()
    schedule = training.Schedule(steps=2, rate=2.0)
    compiled = training.train.compile(rm.matrix(64, 16), len(z), schedule, precision=10)
    weights = compiled.run(z=training.padded(z))
    expected = training.train_clear(z, schedule)
    worst = np.max(np.abs(weights - expected))
    assert np.log2(worst) < max(compiled.predicted_error.values())
    # Every row has them.
    assert weights.shape == (64, 16)
    assert training.accuracy(weights[7], split) == training.accuracy(expected, split)


def test_an_unknown_workload_is_refused_with_the_list() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ringmill", "workload", "letters", "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    reported = json.loads(done.stdout)
    assert reported["code"] == "NoWorkload"
    assert all(name in reported["message"] for name in WORKLOADS)


@pytest.mark.long
@pytest.mark.parametrize("name", WORKLOADS)
def test_whole_workload_keeps_its_accuracy(name: str) -> None:
    facts = run(name)
    assert abs(facts["right, encrypted"] - facts["right, in the clear"]) <= 0.005
    if "right, exact sigmoid" in facts:
        assert abs(facts["right, encrypted"] - facts["right, exact sigmoid"]) <= 0.005
    # Three bootstrappings on the way leave the least.
    assert float(facts["error"].removeprefix("2^")) < -11
