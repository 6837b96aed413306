"""Products of matrices of whole numbers, computed by one thread.

OpenBLAS divides a large product among threads that wait for each other in a loop. On a busy machine, a small product
then takes a hundred times as long. Here, a large product is computed in parts that OpenBLAS gives to one thread.
"""

import numpy as np
import numpy.typing as npt


_ROWS = 16
"""Rows of the first matrix in one part."""
_MULTIPLICATIONS = 1 << 18
"""Up to this number of multiplications, OpenBLAS computes a product with one thread."""


def products(
    ones: npt.NDArray[np.integer] | npt.NDArray[np.float32],
    others: npt.NDArray[np.integer] | npt.NDArray[np.float32],
) -> npt.NDArray[np.float32]:
    """Return the product of each row of `ones` and each row of `others`.

    The values are whole numbers whose sums float32 represents exactly, so the parts don't change the result.
    """
    found = np.empty((len(ones), len(others)), dtype=np.float32)
    step = max(_MULTIPLICATIONS // (_ROWS * max(ones.shape[1], 1)), 1)
    for begin in range(0, len(others), step):
        here = others[begin : begin + step].astype(np.float32, copy=False).T
        for row in range(0, len(ones), _ROWS):
            asked = ones[row : row + _ROWS].astype(np.float32, copy=False)
            found[row : row + _ROWS, begin : begin + step] = asked @ here
    return found
