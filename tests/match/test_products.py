"""Products in parts are the products of the whole matrices."""

import numpy as np
import pytest

from agentplane.match.products import products


@pytest.mark.parametrize("ones", [0, 1, 15, 16, 17, 130])
@pytest.mark.parametrize("others", [0, 1, 64, 65, 1000])
@pytest.mark.parametrize("width", [1, 3, 256])
def test_they_are_exact(ones: int, others: int, width: int) -> None:
    dice = np.random.default_rng(1)
    one = dice.integers(-127, 128, (ones, width)).astype(np.int8)
    other = dice.integers(-254, 255, (others, width)).astype(np.int16)
    found = products(one, other)
    assert found.dtype == np.float32
    assert np.array_equal(found, one.astype(np.int64) @ other.T.astype(np.int64))
