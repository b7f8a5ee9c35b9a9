"""Small dense linear algebra on slices of work arrays, without allocation."""

from __future__ import annotations

from typing import Any

from parallel_dynamics.kernels.compiler import kernel


@kernel
def reduce_rows(a: Any, top: int, m: int, n: int, width: int) -> float:
    """Gauss-Jordan reduction of ``m`` rows of ``a`` from row ``top`` on, with row pivoting.

    The first ``n`` columns become the identity in the first ``n`` rows and zero in the rest, if
    they have full column rank. What stands right of them is transformed along: solutions in the
    first ``n`` rows, conditions of compatibility in the other ``m - n``.

    Returns the ratio of the smallest to the largest pivot: 0 where the columns are dependent.
    """
    smallest = 1e300
    largest = 0.0
    for k in range(n):
        best = -1.0
        at = top + k
        for i in range(top + k, top + m):
            size = abs(a[i, k])
            if size > best:
                best = size
                at = i
        if not best > 1e-300:
            return 0.0
        smallest = min(smallest, best)
        largest = max(largest, best)
        row = top + k
        if at != row:
            for j in range(k, width):
                a[row, j], a[at, j] = a[at, j], a[row, j]
        inverse = 1.0 / a[row, k]
        for j in range(k + 1, width):
            a[row, j] *= inverse
        a[row, k] = 1.0
        for i in range(top, top + m):
            factor = a[i, k]
            if i != row and factor != 0.0:
                a[i, k] = 0.0
                for j in range(k + 1, width):
                    a[i, j] -= factor * a[row, j]
    return smallest / largest if n > 0 else 1.0


@kernel
def solve_in_place(a: Any, b: Any, n: int) -> float:
    """Solve ``a x = b`` for a leading block of size ``n``; ``b`` becomes x, ``a`` is destroyed.

    Returns the ratio of the smallest to the largest pivot.
    """
    smallest = 1e300
    largest = 0.0
    for k in range(n):
        at = k
        best = abs(a[k, k])
        for i in range(k + 1, n):
            if abs(a[i, k]) > best:
                best = abs(a[i, k])
                at = i
        if not best > 1e-300:
            return 0.0
        smallest = min(smallest, best)
        largest = max(largest, best)
        if at != k:
            for j in range(k, n):
                a[k, j], a[at, j] = a[at, j], a[k, j]
            b[k], b[at] = b[at], b[k]
        inverse = 1.0 / a[k, k]
        for i in range(k + 1, n):
            factor = a[i, k] * inverse
            for j in range(k + 1, n):
                a[i, j] -= factor * a[k, j]
            b[i] -= factor * b[k]
    for i in range(n - 1, -1, -1):
        value = b[i]
        for j in range(i + 1, n):
            value -= a[i, j] * b[j]
        b[i] = value / a[i, i]
    return smallest / largest if n > 0 else 1.0


@kernel
def solve_symmetric(a: Any, b: Any, n: int) -> float:
    """Solve ``a x = b`` by Cholesky for symmetric positive definite ``a`` (leading block n).

    ``b`` becomes x and the lower triangle of ``a`` its factor. Returns the ratio of the smallest
    to the largest diagonal of the factor, squared; 0 or less where ``a`` is not positive definite.
    """
    smallest = 1e300
    largest = 0.0
    for j in range(n):
        d = a[j, j]
        for k in range(j):
            d -= a[j, k] * a[j, k]
        if not d > 0.0:
            return 0.0
        smallest = min(smallest, d)
        largest = max(largest, d)
        d = d**0.5
        a[j, j] = d
        for i in range(j + 1, n):
            s = a[i, j]
            for k in range(j):
                s -= a[i, k] * a[j, k]
            a[i, j] = s / d
    solve_factored(a, b, n)
    return smallest / largest if n > 0 else 1.0


@kernel
def solve_factored(factor: Any, b: Any, n: int) -> None:
    """Solve L L^T x = b for the factor that ``solve_symmetric`` left; ``b`` becomes x."""
    for i in range(n):
        s = b[i]
        for k in range(i):
            s -= factor[i, k] * b[k]
        b[i] = s / factor[i, i]
    for i in range(n - 1, -1, -1):
        s = b[i]
        for k in range(i + 1, n):
            s -= factor[k, i] * b[k]
        b[i] = s / factor[i, i]


@kernel
def orientation(a: Any, copy: Any, n: int) -> float:
    """Return the sign of the determinant of the leading block of ``a``."""
    for i in range(n):
        for k in range(n):
            copy[i, k] = a[i, k]
    sign = 1.0
    for k in range(n):
        at = k
        for i in range(k + 1, n):
            if abs(copy[i, k]) > abs(copy[at, k]):
                at = i
        if copy[at, k] == 0.0:
            return 0.0
        if at != k:
            sign = -sign
            for j in range(n):
                copy[k, j], copy[at, j] = copy[at, j], copy[k, j]
        if copy[k, k] < 0.0:
            sign = -sign
        for i in range(k + 1, n):
            factor = copy[i, k] / copy[k, k]
            for j in range(k, n):
                copy[i, j] -= factor * copy[k, j]
    return sign
