"""Linear systems of CasADi expressions solved once and for all, in a fixed order of pivots."""

from __future__ import annotations

import casadi as ca
import numpy as np


class Elimination:
    """LU factors of a square matrix of expressions.

    Pivots are chosen at a sample state for sparsity, among those that are not small there, and
    then stay: the code has no branches.
    """

    def __init__(self, matrix: ca.SX, values: np.ndarray) -> None:
        n = self.n = matrix.shape[0]
        a = self.a = [[matrix[i, j] for j in range(n)] for i in range(n)]
        v = np.array(values, float).reshape(n, n)
        self.rows, self.columns = list(range(n)), list(range(n))
        self.inverse: list[ca.SX] = []
        for k in range(n):
            i, j = self._pivot(v, k)
            for table in (a, self.rows):
                table[k], table[i] = table[i], table[k]
            v[[k, i]] = v[[i, k]]
            for row in a:
                row[k], row[j] = row[j], row[k]
            v[:, [k, j]] = v[:, [j, k]]
            self.columns[k], self.columns[j] = self.columns[j], self.columns[k]
            self.inverse.append(1 / a[k][k])
            for i in range(k + 1, n):
                if not a[i][k].is_zero():
                    a[i][k] = a[i][k] * self.inverse[k]
                    v[i, k] /= v[k, k]
                    for j in range(k + 1, n):
                        a[i][j] = a[i][j] - a[i][k] * a[k][j]
                        v[i, j] -= v[i, k] * v[k, j]

    def _pivot(self, v: np.ndarray, k: int) -> tuple[int, int]:
        """The place that fills the fewest zeros (Markowitz), largest first."""
        rest = range(k, self.n)
        filled = {(i, j) for i in rest for j in rest if not self.a[i][j].is_zero()}
        enough = 0.05 * np.abs(v[k:, k:]).max()
        along = {i: sum(p[0] == i for p in filled) for i in rest}
        down = {j: sum(p[1] == j for p in filled) for j in rest}
        good = [p for p in filled if abs(v[p]) >= enough]
        return min(good, key=lambda p: ((along[p[0]] - 1) * (down[p[1]] - 1), -abs(v[p]), p))

    def solve(self, right: ca.SX) -> ca.SX:
        """X of A x = right."""
        n, a = self.n, self.a
        x = [right[self.rows[i]] for i in range(n)]
        for i in range(n):
            for j in range(i):
                x[i] = x[i] - a[i][j] * x[j]
        for i in reversed(range(n)):
            for j in range(i + 1, n):
                x[i] = x[i] - a[i][j] * x[j]
            x[i] = x[i] * self.inverse[i]
        return self._put(x, self.columns)

    def solve_transposed(self, right: ca.SX) -> ca.SX:
        """X of A^T x = right."""
        n, a = self.n, self.a
        x = [right[self.columns[i]] for i in range(n)]
        for i in range(n):
            for j in range(i):
                x[i] = x[i] - a[j][i] * x[j]
            x[i] = x[i] * self.inverse[i]
        for i in reversed(range(n)):
            for j in range(i + 1, n):
                x[i] = x[i] - a[j][i] * x[j]
        return self._put(x, self.rows)

    def _put(self, x: list, places: list[int]) -> ca.SX:
        out = ca.SX.zeros(self.n)
        for k, place in enumerate(places):
            out[place] = x[k]
        return out


def solve_symmetric(matrix: ca.SX, right: ca.SX) -> ca.SX:
    """X of A x = right by L D L^T; A is positive definite and its lower half is read."""
    n = matrix.shape[0]
    a = [[matrix[i, j] for j in range(i + 1)] for i in range(n)]
    x = [right[i] for i in range(n)]
    inverse = []
    for k in range(n):
        inverse.append(1 / a[k][k])
        factors = [a[i][k] * inverse[k] for i in range(k + 1, n)]
        for i in range(k + 1, n):
            for j in range(k + 1, i + 1):
                a[i][j] = a[i][j] - factors[i - k - 1] * a[j][k]
            x[i] = x[i] - factors[i - k - 1] * x[k]
        for i, factor in enumerate(factors, k + 1):
            a[i][k] = factor
    for i in reversed(range(n)):
        x[i] = x[i] * inverse[i]
        for j in range(i + 1, n):
            x[i] = x[i] - a[j][i] * x[j]
    return ca.vertcat(*x)
