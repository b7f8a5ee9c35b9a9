"""Joint positions of the compared robots' legs in closed form, as expressions of CasADi.

Only cosines, sines and slides are found, which is all that the models need: no angle is ever
calculated.
"""

from __future__ import annotations

from collections.abc import Callable
import math

import casadi as ca
import numpy as np


def tidy(values: np.ndarray) -> ca.SX:
    """Return numbers as constants, those of rounding size as what they stand for."""
    values = np.array(values, float)
    near = np.abs(values - np.round(values)) < 1e-14
    return ca.SX(ca.DM(np.where(near, np.round(values), values)))


class LegPlacer:
    """Finds (cosine, sine, slide) of each joint of a leg whose tips have to be somewhere.

    Parameters
    ----------
    joints : tuple of Joint
        Of the whole robot.
    value : callable
        The number that an expression has at a sample state.
    samples : (N, joints)
        Joint positions at sample states, at the first of which ``value`` is taken. They say which
        of two solutions is meant, and which joints always move alike.
    """

    def __init__(self, joints, value: Callable[[ca.SX], float], samples: np.ndarray) -> None:
        self.joints, self.value, self.samples = joints, value, samples
        self.sample = samples[0]

    def place(self, leg: list[int], tips: list[tuple]) -> dict[int, tuple]:
        """Place a leg; ``tips`` are pairs of a frame on the leg and its target in base axes."""
        kinds = ''.join(self.joints[j].kind[0].upper() for j in leg)
        forms = {'RRP': self._universal_slide, 'RP': self._revolute_slide,
                 'RRRRR': self._parallelogram}  # fmt: skip
        found = forms[kinds](leg, tips)
        for j, (c, s, slide) in found.items():
            q = self.sample[j]
            wanted = (1.0, 0.0, q) if self.joints[j].kind == 'prismatic' else (
                math.cos(q), math.sin(q), 0.0)  # fmt: skip
            if not np.allclose([self.value(ca.SX(x)) for x in (c, s, slide)], wanted, atol=1e-9):
                raise ValueError(f'no closed form for {self.joints[j].name}')
        return found

    def _seen(self, j: int, point):
        """A point of the parent's axes, seen from joint j's frame at zero."""
        joint = self.joints[j]
        return tidy(joint.rotation).T @ (point - tidy(joint.position))

    @staticmethod
    def _bar(one: int, two: int, d, size) -> dict[int, tuple]:
        """Joints about x and then y that turn the z axis into d, whose size is known."""
        above = ca.sqrt(d[1] * d[1] + d[2] * d[2])
        part, whole = 1 / above, 1 / size
        return {one: (d[2] * part, -d[1] * part, 0), two: (above * whole, d[0] * whole, 0)}

    def _alike(self, one: int, two: int) -> bool:
        return bool(np.abs(self.samples[:, one] - self.samples[:, two]).max() < 1e-9)

    def _universal_slide(self, leg, tips):
        ((frame, target),) = tips
        d = self._seen(leg[0], target)
        size = ca.sqrt(ca.dot(d, d))
        free = float(self.joints[leg[2]].position[2] + frame.position[2])
        return {**self._bar(*leg[:2], d, size), leg[2]: (1, 0, size - free)}

    def _revolute_slide(self, leg, tips):
        ((frame, target),) = tips
        slide = self.joints[leg[1]]
        axis = slide.rotation @ slide.axis
        along = tidy(axis)
        d = self._seen(leg[0], target)
        size = ca.sqrt(d[0] * d[0] + d[1] * d[1])
        part = 1 / size
        c = (d[0] * along[0] + d[1] * along[1]) * part
        s = (d[1] * along[0] - d[0] * along[1]) * part
        free = float((slide.position + slide.rotation @ frame.position) @ axis)
        return {leg[0]: (c, s, 0), leg[1]: (1, 0, size - free)}

    def _parallelogram(self, leg, tips):
        """Arm about y, two bars on universal joints: |tip - elbow| = bar is c x - s z = k."""
        frame, target = tips[0]
        bar = float(frame.position[2])
        arm, aside, _ = (float(v) for v in self.joints[leg[1]].position)
        d = self._seen(leg[0], target)
        x, y, z = d[0], d[1] - aside, d[2]
        square = x * x + z * z
        k = (square + y * y + (arm * arm - bar * bar)) * (0.5 / arm)
        root, part = ca.sqrt(square - k * k), 1 / square
        pairs = [((k * x + sign * root * z) * part, (sign * root * x - k * z) * part)
                 for sign in (1, -1)]  # fmt: skip
        q = self.sample[leg[0]]
        c, s = min(pairs, key=lambda pair: abs(self.value(pair[1]) - math.sin(q)))
        found = {leg[0]: (c, s, 0)}
        for k, (tip, goal) in enumerate(tips):
            e = self._seen(leg[0], goal)
            inside = ca.vertcat(c * e[0] - s * e[2], e[1], s * e[0] + c * e[2])
            one, two = leg[1 + 2 * k], leg[2 + 2 * k]
            if self._alike(leg[1], one) and self._alike(leg[2], two) and k > 0:
                found |= {one: found[leg[1]], two: found[leg[2]]}
                continue
            found |= self._bar(one, two, self._seen(one, inside), float(tip.position[2]))
        return found
