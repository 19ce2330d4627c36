"""Bootstrapping from Python: at the prompt and in a kernel, against NumPy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ringmill as rm
from ringmill.cli import main

LENGTH = 64


@pytest.fixture(scope="module")
def params() -> rm.Params:
    return rm.Params.bootstrapping(3, log_n=10, slots=LENGTH, insecure=True)


@pytest.mark.parametrize("real", [True, False])
def test_a_vector_comes_back_with_fresh_levels(
    params: rm.Params, rng: np.random.Generator, *, real: bool
) -> None:
    keys = rm.keygen(params, **rm.bootstrap_keys(params, LENGTH, real=real))
    values = rng.uniform(-1, 1, LENGTH) / 2
    values = values if real else values + 1j * rng.uniform(-1, 1, LENGTH) / 2
    low = rm.encrypt(values, keys, key=keys.public, level=3, magnitude=1)
    high = low.bootstrap()
    assert high.level == 6
    assert np.abs(rm.decrypt(high, keys) - values).max() < 2.0**-16
    again = rm.Ciphertext.from_bytes(
        low.to_bytes(), rm.EvaluationKeys.from_bytes(params, keys.evaluation.to_bytes()), LENGTH
    )
    assert np.abs(rm.decrypt(rm.bootstrap(again), keys) - values).max() < 2.0**-12


@pytest.mark.parametrize("slots", [4, 8, 16])
def test_as_many_levels_are_left_as_were_asked_for(slots: int) -> None:
    params = rm.Params.bootstrapping(5, log_n=10, slots=slots, insecure=True)
    assert params.bootstraps is not None
    assert params.bootstraps["levels"] == 5
    keys = rm.keygen(params, **rm.bootstrap_keys(params, slots))
    low = rm.encrypt([0.5] * slots, keys, level=params.bootstraps["start"], magnitude=1)
    assert low.bootstrap().level == params.bootstraps["start"] + 5


def test_a_wanted_precision_sets_the_chain_and_is_reached(rng: np.random.Generator) -> None:
    errors = []
    for bits in (16, 24):
        params = rm.Params.bootstrapping(1, bits=bits, log_n=10, slots=LENGTH, insecure=True)
        keys = rm.keygen(params, **rm.bootstrap_keys(params, LENGTH, real=True))
        values = rng.uniform(-1, 1, LENGTH)
        high = rm.encrypt(values, keys, level=3, magnitude=1).bootstrap()
        errors.append(np.abs(rm.decrypt(high, keys) - values).max())
        assert errors[-1] < 2.0**-bits
    assert errors[1] < errors[0] / 8


@pytest.mark.parametrize(("wide_bits", "bits"), [(46, 12), (50, 16), (58, 22)])
def test_the_bits_of_a_chain_by_its_widths_are_reached(
    wide_bits: int, bits: int, rng: np.random.Generator
) -> None:
    params = rm.Params.bootstrapping(
        1, scale_bits=40, wide_bits=wide_bits, log_n=10, slots=LENGTH, insecure=True
    )
    facts = params.bootstraps
    assert facts is not None
    # One bit for each of the sine's scale, as far as that of the results holds them.
    assert (facts["bits"], facts["levels"]) == (bits, 1)
    keys = rm.keygen(params, **rm.bootstrap_keys(params, LENGTH, real=True))
    values = rng.uniform(-1, 1, LENGTH)
    high = rm.encrypt(values, keys, level=3, magnitude=1).bootstrap()
    assert np.abs(rm.decrypt(high, keys) - values).max() < 2.0**-bits


def test_a_second_iteration_corrects_the_first(rng: np.random.Generator) -> None:
    params = rm.Params.bootstrapping(1, bits=32, iterations=2, log_n=10, slots=LENGTH, insecure=True)
    keys = rm.keygen(params, **rm.bootstrap_keys(params, LENGTH))
    values = rng.uniform(-1, 1, LENGTH)
    low = rm.encrypt(values, keys, key=keys.public, level=3, magnitude=1)
    results = [low.bootstrap(iterations=i) for i in (1, 2)]
    once, twice = (np.abs(rm.decrypt(result, keys) - values).max() for result in results)
    # Parameters promise what full slots of N = 2^16 are precise to: three or four bits less than these, and
    # errors of few slots vary.
    for error, result in zip((once, twice), results, strict=True):
        assert np.log2(error) < result.error_log2 < np.log2(error) + 8
    assert twice < 2.0**-32
    assert twice < once / 16
    for iterations in (0, 3, True):
        with pytest.raises(rm.ParameterError, match="1 or 2"):
            low.bootstrap(iterations=iterations)
    with pytest.raises(rm.ParameterError, match="1 to 2"):
        rm.Params.bootstrapping(1, bits=32, iterations=3)
    with pytest.raises(rm.ParameterError, match="12 to 24"):
        rm.Params.bootstrapping(1, bits=32)


@rm.kernel
def asked(x: Any) -> Any:
    return rm.bootstrap(x * x) * x


def test_a_kernel_bootstraps_where_it_says(params: rm.Params, rng: np.random.Generator) -> None:
    compiled = asked.compile(rm.vector(LENGTH), params=params)
    assert len(compiled.bootstraps) == 1
    assert "test_bootstrap.py" in compiled.bootstraps[0]
    assert "encapsulation" in compiled.keys_needed
    x = rng.uniform(-1, 1, LENGTH)
    assert np.abs(compiled.run(x=x) - asked(x)).max() < 2.0**-14


@pytest.mark.parametrize("most", [4, 1])
def test_a_bootstrapping_takes_few_rotation_keys(
    most: int, params: rm.Params, rng: np.random.Generator
) -> None:
    every = asked.compile(rm.vector(LENGTH), params=params)
    few = asked.compile(rm.vector(LENGTH), params=params, rotation_keys=most)
    assert len(few.plan.rotations) <= most < len(every.plan.rotations)
    assert few.cost["rotate"] > every.cost["rotate"]
    x = rng.uniform(-1, 1, LENGTH)
    error = np.log2(np.abs(few.run(x=x) - asked(x)).max())
    assert error < few.predicted_error["out"] < -10


@rm.kernel
def ninth_power(x: Any) -> Any:
    y = x
    for _ in range(8):
        y = y * x
    return y


def test_a_kernel_too_deep_for_its_chain_is_bootstrapped_where_levels_run_out(
    params: rm.Params, rng: np.random.Generator
) -> None:
    compiled = ninth_power.compile(rm.vector(LENGTH), params=params, algebra=False)
    assert len(compiled.bootstraps) == 1  # eight products: three levels up to it, five after it
    assert all("has no level left" in place for place in compiled.bootstraps)
    x = rng.uniform(-1, 1, LENGTH)
    assert np.abs(compiled.run(x=x) - ninth_power(x)).max() < 2.0**-14


def test_a_kernel_and_its_file_say_where_it_bootstraps(
    params: rm.Params, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compiled = ninth_power.compile(rm.vector(LENGTH), params=params, algebra=False)
    assert ", 1 bootstrapping, keys:" in repr(compiled)
    compiled.save(tmp_path / "kernel")
    assert main(["inspect", str(tmp_path / "kernel"), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["bootstrappings"], facts["bootstraps"]) == (1, compiled.bootstraps)
    assert main(["inspect", str(tmp_path / "kernel")]) == 0
    shown = capsys.readouterr().out
    # Line and reason: three products in, none left for the fourth.
    assert "test_bootstrap.py" in shown
    assert "bootstrapped at depth 3, because the product of" in shown
    shallow = ninth_power.compile(rm.vector(4), precision=10)
    assert "bootstrap" not in repr(shallow)


def test_bootstrappings_of_one_line_are_numbered(params: rm.Params) -> None:
    @rm.kernel
    def often(x: Any) -> Any:
        for _ in range(3):
            x = rm.bootstrap(x * x)
        return rm.bootstrap(x * 0.5)

    places = often.compile(rm.vector(LENGTH), params=params).bootstraps
    loop, last = (line.removesuffix(" (1st of 3)") for line in (places[0], places[-1]))
    assert places == [f"{loop} (1st of 3)", f"{loop} (2nd of 3)", f"{loop} (3rd of 3)", last]
    assert int(last.split(":")[1]) == int(loop.split(":")[1]) + 1  # the line after the loop's


@rm.kernel
def scaled_twice(x: Any) -> Any:
    for _ in range(5):
        x = (x * x) * 0.9 * 0.8
    return x


@rm.kernel
def scaled_once(x: Any) -> Any:
    for _ in range(5):
        x = (x * x) * 0.72
    return x


def test_factors_in_a_row_take_the_bootstrappings_of_their_product(
    params: rm.Params, rng: np.random.Generator
) -> None:
    twice, once = (
        k.compile(rm.vector(LENGTH), params=params, algebra=False) for k in (scaled_twice, scaled_once)
    )
    # Ten products: three levels up to each bootstrapping, five after the last.
    assert len(twice.bootstraps) == len(once.bootstraps) == 2
    x = rng.uniform(-1, 1, LENGTH)
    assert np.abs(twice.run(x=x) - scaled_twice(x)).max() < 2.0**-14


@rm.kernel
def branches(x: Any) -> Any:
    y = x * x * x * x * x
    return tuple((y * c) ** 2 * x for c in (0.5, 0.75, -0.5, 0.25))


def test_branches_share_the_bootstrapping_of_what_they_branch_off(
    params: rm.Params, rng: np.random.Generator
) -> None:
    compiled = branches.compile(rm.vector(LENGTH), params=params, algebra=False)
    assert len(compiled.bootstraps) == 1
    x = rng.uniform(-1, 1, LENGTH)
    for found, wanted in zip(compiled.run(x=x), branches(x), strict=True):
        assert np.abs(found - wanted).max() < 2.0**-14


def test_values_of_any_size_come_back(params: rm.Params, rng: np.random.Generator) -> None:
    keys = rm.keygen(params, **rm.bootstrap_keys(params, LENGTH))
    values = rng.uniform(-900, 900, LENGTH)
    found = rm.decrypt(rm.encrypt(values, keys, level=3, magnitude=900).bootstrap(), keys)
    assert np.abs(found - values).max() < 2.0**-6


@rm.kernel
def power_by_products(x: Any) -> Any:
    y = x
    for _ in range(20):
        y = y * x
    return y


def test_placed_bootstrappings_give_the_bits_that_the_chain_was_asked_for(rng: np.random.Generator) -> None:
    params = rm.Params.bootstrapping(3, bits=32, iterations=2, log_n=10, slots=LENGTH, insecure=True)
    facts = params.bootstraps
    assert facts is not None
    assert (facts["bits"], facts["iterations"], facts["levels"]) == (32, 2, 3)
    deep = power_by_products.compile(rm.vector(LENGTH), params=params, algebra=False)
    assert len(deep.bootstraps) == 5  # three levels up to each, five after the last
    assert deep.predicted_error["out"] < -29
    compiled = asked.compile(rm.vector(LENGTH), params=params)
    x = rng.uniform(-1, 1, LENGTH)
    error = np.log2(np.abs(compiled.run(x=x) - asked(x)).max())
    assert error < -32
    assert error < compiled.predicted_error["out"] < -31
    # At the prompt too, by default.
    keys = rm.keygen(params, **rm.bootstrap_keys(params, LENGTH))
    low = rm.encrypt(x, keys, level=3, magnitude=1)
    assert np.abs(rm.decrypt(low.bootstrap(), keys) - x).max() < 2.0**-32
    # If two iterations do not fit, one bootstraps.
    tiny = rm.encrypt(x / 512, keys, level=3, magnitude=2.0**-9)
    assert np.abs(rm.decrypt(tiny.bootstrap(), keys) - x / 512).max() < 2.0**-26


@rm.kernel
def summed_often(x: Any) -> Any:
    for _ in range(24):
        x = x * x * 0.5 + x.sum() * 0.125 + 0.25
    return x


@pytest.mark.parametrize("spec", [rm.scalar(), rm.vector(2), rm.vector(2, packing="scalars")], ids=str)
def test_few_values_bootstrap_as_many_do(spec: rm.Spec, rng: np.random.Generator) -> None:
    """Fewer slots than a bootstrapping works on, where it is asked for and where levels run out."""
    params = rm.Params.bootstrapping(5, log_n=10, insecure=True)
    x = rng.uniform(-1, 1, spec.shape)
    for kernel in (asked, summed_often):
        compiled = kernel.compile(spec, params=params)
        assert compiled.signature.slots == 4
        assert compiled.bootstraps
        keys = compiled.keygen()
        results = compiled.evaluate(keys, compiled.encrypt(keys, x=x))
        found = compiled.decrypt(keys, results)
        assert found.shape == spec.shape
        assert np.abs(found - kernel(x)).max() < 2.0**results.error_log2 <= 2.0**-8


def test_errors_of_real_vectors_are_those_that_decryption_shows(rng: np.random.Generator) -> None:
    """A bootstrapping of real values leaves its first error in imaginary parts, which nobody reads."""
    params = rm.Params.bootstrapping(5, bits=36, iterations=2, log_n=12, slots=64, insecure=True)
    x = rng.uniform(-1, 1, 64)
    keys = rm.keygen(params, **rm.bootstrap_keys(params, 64))
    y = rm.encrypt(x, keys, level=3).bootstrap()
    reported, slots = rm.measure_error(y, keys, x), keys.secret.decrypt(y.native)
    # Counted, they would break the prediction: three to eight times its size, by the randomness of the keys.
    assert np.abs(slots.imag).max() > 2.0**reported.predicted_log2
    assert reported.measured_log2 == pytest.approx(np.log2(np.abs(slots.real - x).max()))
    assert reported.holds
    assert not rm.measure_error(y, keys, x + 1e-9j).holds
    compiled = rm.kernel(lambda x: rm.bootstrap(x)).compile(rm.vector(64), params=params)
    keys = compiled.keygen()
    results = compiled.evaluate(keys, compiled.encrypt(keys, x=x))
    assert compiled.measure_error(keys, results, x)["out"].holds
    assert not compiled.measure_error(keys, results, x + 1e-9)["out"].holds


@rm.kernel
def seventy(x: Any) -> Any:
    for _ in range(35):
        x = (x * x) * 0.5 + 0.25
    return x


@pytest.mark.parametrize(("kernel", "levels", "least"), [(asked, 1, 1), (seventy, 9, 4)])
def test_a_kernel_that_has_to_bootstrap_is_given_a_chain_for_it(
    kernel: rm.Kernel, levels: int, least: int, tmp_path: Path
) -> None:
    compiled = kernel.compile(rm.vector(LENGTH), precision=16)
    facts = compiled.params.bootstraps
    assert facts is not None
    assert facts["levels"] >= levels
    assert compiled.params.security == 128
    assert len(compiled.bootstraps) >= least
    assert compiled.predicted_error["out"] < -16
    assert compiled.rationale is not None
    assert "bootstrapping" in compiled.rationale
    compiled.save(tmp_path / "kernel")
    loaded = rm.Compiled.load(tmp_path / "kernel")
    assert (loaded.program, loaded.bootstraps) == (compiled.program, compiled.bootstraps)


@pytest.mark.long
def test_a_chain_that_was_chosen_bootstraps_as_precisely_as_was_asked(rng: np.random.Generator) -> None:
    compiled = asked.compile(rm.vector(LENGTH), precision=16)
    x = rng.uniform(-1, 1, LENGTH)
    assert np.abs(compiled.run(x=x) - asked(x)).max() < 2.0**-16


@pytest.mark.parametrize(
    ("iterations", "reported"), [(None, ""), (1, " in 1 iteration"), (2, " in 2 iterations")]
)
def test_a_kernel_bootstraps_in_the_iterations_that_it_says(
    iterations: int | None, reported: str, rng: np.random.Generator
) -> None:
    @rm.kernel
    def cubed(x: Any) -> Any:
        return rm.bootstrap(x * x, iterations=iterations) * x

    params = rm.Params.bootstrapping(1, bits=32, iterations=2, log_n=10, slots=LENGTH, insecure=True)
    traced = cubed.trace(rm.vector(LENGTH)).text
    assert ("bootstrap %1, " in traced) == (iterations is not None)
    compiled = cubed.compile(rm.vector(LENGTH), params=params)
    assert compiled.bootstraps[0].endswith(f": asked for{reported}")
    assert compiled.cost["raise"] == (iterations or 2)
    x = rng.uniform(-1, 1, LENGTH)
    error = np.log2(np.abs(compiled.run(x=x) - x**3).max())
    assert error < compiled.predicted_error["out"]
    assert (error < -30) == (iterations != 1)
    assert rm.bootstrap(x, iterations=iterations) is x


@pytest.mark.parametrize("arcsine", [True, False])
@pytest.mark.parametrize("transforms", [1, 2, 3, 4, 5, 6])
def test_transforms_and_arcsine_are_those_that_are_asked_for(
    transforms: int, arcsine: bool, rng: np.random.Generator
) -> None:
    params = rm.Params.bootstrapping(
        1, bits=16, log_n=10, slots=LENGTH, transforms=transforms, arcsine=arcsine, insecure=True
    )
    facts = params.bootstraps
    assert facts is not None
    assert (facts["transforms"], facts["arcsine"], facts["start"]) == (transforms, arcsine, transforms)
    assert (facts["levels"], facts["bits"]) == (1, 16)
    # Each transform takes its levels on its side of the raise; the sine takes eight, the arcsine two.
    assert params.max_level == 1 + 2 * transforms + 8 + 2 * arcsine
    keys = rm.keygen(params, **rm.bootstrap_keys(params, LENGTH))
    values = rng.uniform(-1, 1, LENGTH)
    fresh = rm.encrypt(values, keys, level=transforms, magnitude=1).bootstrap()
    assert fresh.level == 1 + transforms
    error = np.log2(np.abs(rm.decrypt(fresh, keys) - values).max())
    print(f"transforms={transforms}, arcsine={arcsine}: 2^{error:.1f}, {params}")
    assert error < -16
    assert error < fresh.error_log2


def test_clear_data_pass_unchanged() -> None:
    x = np.arange(4.0)
    assert rm.bootstrap(x) is x


@pytest.mark.parametrize("levels", [2, 3])
def test_the_widest_scales_bootstrap_on_chains_of_any_length(levels: int) -> None:
    """Primes just above the scale and just below it take turns; the length decides which one ends them."""
    slots = 64
    params = rm.Params.bootstrapping(levels, bits=35, iterations=2, slots=slots, log_n=10, insecure=True)
    keys = rm.keygen(params, **rm.bootstrap_keys(params, slots))
    facts, values = params.bootstraps, np.linspace(-1, 1, slots)
    assert facts is not None
    fresh = rm.encrypt(values, keys, level=facts["start"]).bootstrap()
    assert fresh.level >= levels
    np.testing.assert_allclose(rm.decrypt(fresh, keys), values, atol=2.0**-35)
