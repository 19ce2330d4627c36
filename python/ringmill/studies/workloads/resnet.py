"""Residual networks on one encrypted image: ResNet-20 for 32 × 32 × 3 (He et al. 2016), and smaller ones.

A layer is one convolution (`multiplexed.py`) with its bias, folded with its normalisation, and an
activation: a bootstrapping and a polynomial in place of the ramp max(x, 0). Activations are all one and
the same program. Each layer is a program of its own, so that a long run can stop after any of them.

Weights are drawn from a seed, and scaled so that every value before an activation lies within [−1, 1] with a
margin. The network has the topology and the ranges of a trained one, but is not trained. What is shown is
that the encrypted network computes what the clear one does, and what it takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ringmill._native import Params
from ringmill.compiled import Compiled, compile_traced
from ringmill.studies.workloads import multiplexed
from ringmill.studies.workloads.multiplexed import Array, Grid, Input, convolve, horner, repeated, turn
from ringmill.trace import Approximation, approximate, kernel, region, vector
from ringmill.trace.kernel import Kernel
from ringmill.trace.marks import bootstrap
from ringmill.trace.marks import within_everywhere as within

#: The largest value before an activation, over the images that weights are scaled by; others may pass it.
FILL = 0.5
#: Part of a block's sum that comes past its convolutions.
PAST = 0.5
#: Level at which a bootstrapping reads its operand: one for each of its maps from slots to coefficients.
RESTS = 3
#: Level at which convolutions begin. They take one level, and one more brings the result to the scale that
#: the next program reads; so it is after an activation.
STARTS = RESTS + 2
#: Digits of weights: short ones make short program files.
DIGITS = 3


@dataclass(frozen=True)
class Shape:
    """A residual network's shape.

    Attributes
    ----------
        side: of the image.
        channels: of each stage; each stage after the first halves the image.
        blocks: in a stage.
        classes: scores.
        degree: of the polynomial in place of the ramp.
    """

    side: int = 32
    channels: tuple[int, ...] = (16, 32, 64)
    blocks: int = 3
    classes: int = 10
    degree: int = 127

    @property
    def slots(self) -> int:
        """Slots of every activation: those of the first stage."""
        return self.channels[0] * self.side**2

    @property
    def layers(self) -> int:
        """As layers are counted in a network's name."""
        return 2 * self.blocks * len(self.channels) + 2

    @cached_property
    def ramp(self) -> Approximation:
        """The polynomial in place of max(x, 0) on [−1, 1]."""
        return approximate(lambda t: np.maximum(t, 0.0), (-1, 1), degree=self.degree)


@dataclass(frozen=True)
class Block:
    """Two convolutions, and the way past them: a convolution of one tap, a number times x where x fits."""

    first: Array
    first_bias: Array
    second: Array
    second_bias: Array
    past: Array
    stride: int


@dataclass
class Network:
    """A network with weights."""

    shape: Shape
    stem: Array = field(init=False)
    stem_bias: Array = field(init=False)
    blocks: list[Block] = field(init=False)
    head: Array = field(init=False)

    @classmethod
    def drawn(cls, shape: Shape, seed: int = 1) -> Network:
        """Weights from a seed, scaled layer by layer on eight random images."""
        random = np.random.default_rng(seed)
        network = cls(shape)
        images = random.uniform(-1, 1, (8, 3, shape.side, shape.side))
        network.stem = _drawn(random, shape.channels[0], 3)
        network.stem, x = _scaled(network.stem, images, 1, FILL)
        network.stem_bias = _bias(random, shape.channels[0])
        x = np.maximum(x + network.stem_bias[:, None, None], 0)
        network.blocks = []
        inputs = shape.channels[0]
        for stage, channels in enumerate(shape.channels):
            for number in range(shape.blocks):
                stride = 2 if stage and not number else 1
                block, x = _block(random, x, inputs, channels, stride)
                network.blocks.append(block)
                inputs = channels
        head = random.normal(size=(shape.classes, inputs))
        pooled = x.mean(axis=(-2, -1))
        network.head = np.round(head * (FILL / np.abs(pooled @ head.T).max()), DIGITS)
        return network

    def scores(self, image: Array, ramp: Callable[[Array], Array] | None = None) -> Array:
        """Scores of one image (3, side, side) in the clear, with the polynomial or another ramp."""
        ramp = ramp or self.shape.ramp
        x = np.asarray(ramp(correlate(image, self.stem, 1) + self.stem_bias[:, None, None]))
        for block in self.blocks:
            u = np.asarray(ramp(correlate(x, block.first, block.stride) + block.first_bias[:, None, None]))
            past = correlate(x, block.past, block.stride)
            x = np.asarray(ramp(correlate(u, block.second, 1) + block.second_bias[:, None, None] + past))
        return np.asarray(self.head @ x.mean(axis=(-2, -1)))


def correlate(x: Array, weights: Array, stride: int) -> Array:
    """A convolutional layer in the clear: (…, channels, side, side), padded by half of the kernel."""
    half = weights.shape[-1] // 2
    padded = np.pad(x, [(0, 0)] * (x.ndim - 2) + [(half, half)] * 2)
    windows = np.lib.stride_tricks.sliding_window_view(padded, weights.shape[-2:], axis=(-2, -1))
    found = np.einsum("...cijuv,ocuv->...oij", windows[..., ::stride, ::stride, :, :], weights, optimize=True)
    return np.asarray(found)


def _drawn(random: np.random.Generator, outputs: int, inputs: int, side: int = 3) -> Array:
    return np.asarray(random.normal(size=(outputs, inputs, side, side)))


def _bias(random: np.random.Generator, channels: int) -> Array:
    return np.round(random.uniform(-0.05, 0.05, channels), DIGITS)


def _scaled(weights: Array, x: Array, stride: int, most: float) -> tuple[Array, Array]:
    """Weights whose result is at most ``most`` on ``x``, and that result."""
    weights = np.round(weights * (most / np.abs(correlate(x, weights, stride)).max()), DIGITS)
    return weights, correlate(x, weights, stride)


def _block(
    random: np.random.Generator, x: Array, inputs: int, channels: int, stride: int
) -> tuple[Block, Array]:
    first, u = _scaled(_drawn(random, channels, inputs), x, stride, FILL)
    first_bias, second_bias = _bias(random, channels), _bias(random, channels)
    u = np.maximum(u + first_bias[:, None, None], 0)
    second, v = _scaled(_drawn(random, channels, channels), u, 1, FILL * (1 - PAST))
    # The sum grows from block to block if nothing holds it down.
    way = np.eye(channels)[:, :, None, None] if stride == 1 else _drawn(random, channels, inputs, 1)
    past, w = _scaled(way, x, stride, FILL * PAST)
    y = np.maximum(v + w + second_bias[:, None, None], 0)
    return Block(first, first_bias, second, second_bias, past, stride), y


def parameters(shape: Shape, *, log_n: int = 16, insecure: bool = False) -> Params:
    """Parameters whose levels suffice for an activation and the convolution after it.

    One level more brings an activation to the scale that convolutions read.
    """
    levels = shape.ramp.depth + 1 + STARTS - RESTS
    return Params.bootstrapping(levels, log_n=log_n, slots=shape.slots, insecure=insecure)


# ---- programs -----------------------------------------------------------------------------------------


@kernel
def activation(p: Any, ramp: Approximation) -> Any:
    """Fresh levels, and the ramp. The mark is set by hand: each activation is a program of its own."""
    return ramp(bootstrap(within(p, 1.0)))


@kernel
def convolution(x: Any, plan: multiplexed.Plan, bias: Array) -> Any:
    """A convolution and its bias."""
    with region("convolution"):
        return within(convolve([x], plan) + repeated(bias, x), 1.0)


@kernel
def join(u: Any, x: Any, plan: multiplexed.Plan, bias: Array) -> Any:
    """The second convolution of a block, and x that went past both."""
    with region("convolution"):
        return within(convolve([u, x], plan) + repeated(bias, x), 1.0)


@kernel
def scores(x: Any, grid: Grid, weights: Array) -> Any:
    """Means of every channel, times a matrix: ``grid.side`` scores a ciphertext, where `score_slots` says."""
    side, gap, base = grid.side, grid.gap, grid.base
    with region("means"):
        for distance in (gap, gap * base):
            x = within(_sum(x, distance, side), float(side**2))
    found = []
    with region("scores"):
        for first in range(0, len(weights), side):
            rows = weights[first : first + side]
            terms = {}
            for number, row in enumerate(rows):
                mask = np.zeros(grid.period)
                mask[grid.slots()[:, 0, 0]] = row / side**2
                terms[len(rows) - 1 - number] = x * repeated(mask, x)
            total = horner(terms, gap)
            for distance, count in ((1, gap), (base, gap), (base**2, grid.groups)):
                total = _sum(total, distance, count)
            found.append(within(total, 1.0))
    return tuple(found)


def _sum(x: Any, distance: int, count: int) -> Any:
    """Return the sum of a number of slots at one distance, by one key."""
    total = x
    for _ in range(count - 1):
        total = turn(total, distance) + x
    return total


def score_slots(grid: Grid, count: int) -> list[tuple[int, int]]:
    """Result and slot of every score: the last one of a result stands at the origin."""
    found = []
    for first in range(0, count, grid.side):
        last = min(count, first + grid.side) - 1
        for j in range(first, last + 1):
            found.append((first // grid.side, (-(last - j) * grid.gap - grid.origin) % grid.period))
    return found


@dataclass(frozen=True)
class Step:
    """A program of the run: what it reads, what it writes, where results stand.

    ``kernel`` and ``arguments`` make its program; ``slots`` are those of its ciphertexts.
    """

    name: str
    kernel: Kernel
    arguments: dict[str, Any]
    slots: int
    reads: dict[str, str]
    writes: str
    grid: Grid

    @property
    def sort(self) -> str:
        """What takes about as long as another of its sort."""
        return "activation" if self.shared else f"{self.kernel.function.__name__}, {self.slots} slots"

    @property
    def level(self) -> int | None:
        """Level at which the next program reads the result, at a fresh scale; none for scores."""
        return {"p": RESTS, "scores": None}.get(self.writes, STARTS)

    @property
    def shared(self) -> bool:
        """Whether every step of its sort has the same program."""
        return self.kernel is activation

    def compile(self, params: Params) -> Compiled:
        """The program for parameters; results end where the next bootstrapping reads them."""
        specs: dict[str, Any] = dict.fromkeys(self.reads, vector(self.slots))
        traced = self.kernel.trace(**specs, **self.arguments)
        return compile_traced(traced, params=params, output_level=None if self.shared else RESTS + 1)


def steps(network: Network) -> Iterator[Step]:
    """The programs in the order in which they run."""
    shape = network.shape
    act = {"ramp": shape.ramp}

    def activate(name: str, at: Grid, to: str) -> Step:
        return Step(name, activation, act, shape.slots, {"p": "p"}, to, at)

    def layer(name: str, bias: Array, gap: int, **inputs: Input) -> Step:
        """``inputs`` by the names of what they read: x alone, or u and x."""
        plan = multiplexed.plan(list(inputs.values()), gap)
        arguments = {"plan": plan, "bias": _spread(bias, plan.target, plan.slots)}
        kernel = convolution if len(inputs) == 1 else join
        return Step(name, kernel, arguments, plan.slots, {name: name for name in inputs}, "p", plan.target)

    # The image's three channels are padded with empty ones.
    grid = Grid(shape.side, 1, shape.channels[0])
    stem = np.pad(network.stem, ((0, 0), (0, grid.channels - 3), (0, 0), (0, 0)))
    step = layer("stem", network.stem_bias, 1, x=Input(grid, stem))
    yield step
    yield activate("stem, activation", step.grid, "x")
    for number, block in enumerate(network.blocks, 1):
        name, before = f"block {number}", step.grid
        gap = before.gap * block.stride
        step = layer(f"{name}, first", block.first_bias, gap, x=Input(before, block.first, block.stride))
        yield step
        yield activate(f"{name}, first activation", step.grid, "u")
        past = Input(before, block.past, block.stride)
        step = layer(f"{name}, second", block.second_bias, gap, u=Input(step.grid, block.second), x=past)
        yield step
        yield activate(f"{name}, second activation", step.grid, "x")
    arguments = {"grid": step.grid, "weights": network.head}
    yield Step("scores", scores, arguments, step.grid.period, {"x": "x"}, "scores", step.grid)


def _spread(bias: Array, grid: Grid, slots: int) -> Array:
    """A number for each channel, in all of its slots."""
    image = np.broadcast_to(bias[:, None, None], (grid.channels, grid.side, grid.side))
    return np.tile(grid.pack(image), slots // grid.period)
