"""What an input is, and what is refused as one."""

import hashlib
import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import doublebubble as db
from doublebubble.errors import InputError, ModelError
from doublebubble.smoothing import Input, SmoothedClassifier
from doublebubble.smoothing.inputs import held_domain
from tests.smoothing.subjects import SHAPE, image, small_net, smoothed


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_inputs_of_any_floating_dtype(dtype: torch.dtype) -> None:
    x = image().to(dtype)
    counts = smoothed().counts(x, 200, seed=0, index=0)
    assert counts.sum() == 200
    if dtype != torch.float64:
        assert counts.tolist() == smoothed().counts(x.float(), 200, seed=0, index=0).tolist()


def test_a_wrong_input_shape_is_refused() -> None:
    classifier = smoothed(input_shape=SHAPE)
    with pytest.raises(InputError, match=r"input 4: expected shape \(2, 6, 6\), got \(6, 6\)"):
        classifier.counts(image()[0], 10, seed=0, index=4)
    with pytest.raises(ModelError, match=r"input 0: the model failed on a batch of shape \(64, 3, 6, 6\)"):
        smoothed().counts(torch.zeros(3, 6, 6), 10, seed=0, index=0)


@pytest.mark.parametrize(
    ("value", "message"),
    [(1.5, "expected values in"), (-0.01, "expected values in"), (math.nan, "finite"), (math.inf, "finite")],
)
def test_inputs_outside_the_domain_or_non_finite_are_refused(value: float, message: str) -> None:
    x = image()
    x[0, 0, 0] = value
    with pytest.raises(InputError, match=f"input 9: .*{message}"):
        smoothed().counts(x, 10, seed=0, index=9)


def test_without_a_domain_any_finite_input_is_accepted() -> None:
    assert smoothed(domain=None).counts(image() * 100 - 50, 10, seed=0, index=0).sum() == 10


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_without_a_domain_what_is_not_finite_is_refused(value: float) -> None:
    x = image()
    x[0, 0, 0] = value
    with pytest.raises(InputError, match="input 9: expected finite values, got 1"):
        smoothed(domain=None).counts(x, 10, seed=0, index=9)


def test_integers_are_not_inputs() -> None:
    with pytest.raises(InputError, match=r"torch\.int64"):
        smoothed().counts(torch.zeros(SHAPE, dtype=torch.int64), 10, seed=0, index=0)


def test_a_batch_where_one_input_is_expected_says_what_to_call() -> None:
    classifier = smoothed(input_shape=SHAPE)
    with pytest.raises(InputError, match=r"input 4: .*got a batch of 5: pass one input, or certify_many"):
        classifier.counts(torch.zeros(5, *SHAPE), 10, seed=0, index=4)
    with pytest.raises(InputError, match=r"expected shape \(2, 6, 6\), got \(5, 3, 6, 6\)"):
        classifier.counts(torch.zeros(5, 3, 6, 6), 10, seed=0, index=4)


def test_a_refused_input_does_not_fix_the_shape() -> None:
    classifier = smoothed()
    with pytest.raises(InputError, match="finite"):
        classifier.counts(torch.full((5, *SHAPE), math.nan), 10, seed=0, index=0)
    assert classifier.counts(image(), 10, seed=0, index=0).sum() == 10


def test_numpy_is_welcome_as_input_index_and_label() -> None:
    array = image().numpy()
    array.setflags(write=False)
    given = Input(np.int64(3), array, np.uint8(7))  # type: ignore[arg-type]
    assert (type(given.index), given.index, type(given.label), given.label) == (int, 3, int, 7)
    assert torch.equal(given.x, image())
    assert Input(0, image().flip(0).numpy()[::-1], None).x.equal(image())  # type: ignore[arg-type]
    assert Input(0, image().numpy().astype(">f4"), None).x.equal(image())  # type: ignore[arg-type]
    numbers: dict[str, Any] = {"n": np.int64(200), "seed": np.uint8(0), "index": np.int32(3)}
    votes = smoothed().counts(array, **numbers)  # type: ignore[arg-type]
    assert votes.tolist() == smoothed().counts(image(), 200, seed=0, index=3).tolist()
    named = smoothed().predict(array, **numbers)  # type: ignore[arg-type]
    assert named == smoothed().predict(image(), 200, seed=0, index=3)


@pytest.mark.parametrize("wrong", [True, 1.0, -1, "3", None])
def test_what_is_no_index_is_refused(wrong: object) -> None:
    with pytest.raises(InputError, match="index: expected an integer"):
        Input(wrong, image())  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [True, 1.5, "cat"])
def test_what_is_no_label_is_refused(wrong: object) -> None:
    with pytest.raises(InputError, match="input 4: label: expected an integer"):
        Input(4, image(), wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [[1.0, 2.0], np.array(["a"]), np.array([object()])])
def test_what_is_neither_tensor_nor_array_of_numbers_is_refused(wrong: object) -> None:
    with pytest.raises(InputError, match="input 4: expected"):
        Input(4, wrong)  # type: ignore[arg-type]


def test_the_bytes_of_an_input_name_its_randomness() -> None:
    first = Input.named_by_bytes(image(), 3)
    assert first.label == 3
    assert 0 <= first.index < 2**63
    assert first.index == Input.named_by_bytes(image().numpy()).index, "an array is named as the tensor it becomes"
    assert first.index == Input.named_by_bytes(image().permute(2, 1, 0).contiguous().permute(2, 1, 0)).index
    nudged = image()
    nudged[0, 0, 0] = torch.nextafter(nudged[0, 0, 0], torch.tensor(2.0))
    others = [nudged, image().double(), image().reshape(2, 36), image().to(torch.bfloat16), image(1)]
    assert len({first.index, *(Input.named_by_bytes(x).index for x in others)}) == 6


def test_the_name_of_an_input_stays_what_it_was() -> None:
    """Another number would be another stream: runs could not be repeated."""
    x = torch.tensor([0.5, 0.25])
    text = b"doublebubble/input|torch.float32|(2,)|" + bytes.fromhex("0000003f0000803e")
    assert Input.named_by_bytes(x).index == int.from_bytes(hashlib.sha256(text).digest()[:8], "big") // 2


@pytest.mark.parametrize("domain", [(0.1, 0.3), (0.0, 0.3), (-0.3, 0.7), (0.0, 1.0)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_inputs_clamped_to_the_domain_lie_in_it_and_can_be_certified(
    domain: tuple[float, float], dtype: torch.dtype
) -> None:
    x = (image().to(dtype) * 2 - 0.5).clamp(*domain)
    assert float(x.min()) == pytest.approx(domain[0])
    assert float(x.max()) == pytest.approx(domain[1])
    classifier = SmoothedClassifier(small_net(), 0.25, 4, domain, batch_size=64)
    config = db.CertifyConfig(n=500, n0=50, methods=("cohen", "boundary", "double"))
    cert = db.Certifier(classifier, config).certify(x, index=0)
    assert set(cert.radii) == {"cohen", "boundary", "double"}


@given(st.floats(-1e30, 1e30), st.floats(-1e30, 1e30))
def test_the_domain_held_contains_the_one_asked_for_and_its_ends_in_float32_and_little_more(a: float, b: float) -> None:
    low, high = min(a, b), max(a, b)
    held_low, held_high = held_domain((low, high))
    assert held_low <= low <= high <= held_high
    for end in (low, high):
        assert held_low <= float(torch.tensor(end, dtype=torch.float32)) <= held_high
    assert held_low >= low - 1e-7 * abs(low) - 1e-44
    assert held_high <= high + 1e-7 * abs(high) + 1e-44


def test_domains_that_float32_holds_or_cannot_reach_stay_as_they_are() -> None:
    assert held_domain((0.0, 1.0)) == (0.0, 1.0)
    assert held_domain((-1e80, 1e80)) == (-1e80, 1e80)


def test_what_lies_outside_the_widened_domain_is_refused() -> None:
    classifier = SmoothedClassifier(small_net(), 0.25, 4, (0.1, 0.3), batch_size=64)
    for wrong in (0.3 + 1e-6, 0.1 - 1e-6):
        with pytest.raises(InputError, match="expected values in"):
            classifier.counts(torch.full(SHAPE, wrong), 10, seed=0, index=0)
