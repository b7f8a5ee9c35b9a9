"""What families are made of: shapes with their inertia, frames, and text."""

import dataclasses

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from parallel_dynamics.families import geometry, shapes, shipped
from parallel_dynamics.families.variation import Variation
from parallel_dynamics.families.writing import Writer


def same(one, two):
    assert one.mass == pytest.approx(two.mass)
    np.testing.assert_allclose(one.com, two.com, atol=1e-12)
    np.testing.assert_allclose(one.tensor, two.tensor, atol=1e-12)


def test_a_tube_is_its_two_halves_and_a_hollow_one_is_a_difference():
    a, b = np.array([0.1, 0.2, 0.3]), np.array([0.5, -0.2, 0.9])
    middle = 0.3 * a + 0.7 * b
    whole = shapes.tube(a, b, 0.05, 2.0, 'steel', bore=0.02).inertia
    same(whole, shapes.tube(a, middle, 0.05, 1.4, 'steel', bore=0.02).inertia
         + shapes.tube(middle, b, 0.05, 0.6, 'steel', bore=0.02).inertia)
    full, core = 0.05**2, 0.02**2  # masses of equal density
    same(shapes.tube(a, b, 0.05, full, 'steel').inertia,
         shapes.tube(a, b, 0.05, full - core, 'steel', bore=0.02).inertia
         + shapes.tube(a, b, 0.02, core, 'steel').inertia)


def test_a_square_plate_is_a_box():
    corners = [[0.0, 0.0, 1.0], [0.4, 0.0, 1.0], [0.4, 0.6, 1.0], [0.0, 0.6, 1.0]]
    same(shapes.polygon_plate(corners, 0.05, 3.0, 'steel', 'steel').inertia,
         shapes.box([0.2, 0.3, 1.0], [0.4, 0.6, 0.05], 3.0, 'steel').inertia)


def test_a_triangular_plate_is_made_of_four_smaller_ones():
    big = np.array([[1.0, 0.0, 0.0], [-0.2, 0.9, 0.1], [-0.5, -0.7, 0.3]])
    middles = (big + np.roll(big, -1, axis=0)) / 2.0
    small = [[big[i], middles[i], middles[i - 1]] for i in range(3)] + [middles]
    parts = [shapes.polygon_plate(c, 0.02, 0.25, 'steel', 'steel').inertia for c in small]
    same(shapes.polygon_plate(big, 0.02, 1.0, 'steel', 'steel').inertia,
         parts[0] + parts[1] + parts[2] + parts[3])


def test_inertia_seen_from_another_frame_has_the_same_energy():
    random = np.random.default_rng(0)
    body = shapes.box([0.1, 0.2, 0.3], [0.2, 0.3, 0.5], 2.0, 'steel').inertia
    turn, point = Rotation.from_rotvec([0.4, -1.1, 0.7]).as_matrix(), random.normal(size=3)
    moved, spin = body.seen_from(point, turn), random.normal(size=3)
    assert spin @ body.tensor @ spin == pytest.approx(
        (turn.T @ spin) @ moved.tensor @ (turn.T @ spin))
    np.testing.assert_allclose(turn @ moved.com + point, body.com)


@given(st.floats(-4, 4), st.sampled_from([-np.pi / 2, np.pi / 2, None]), st.floats(-4, 4))
def test_roll_pitch_yaw_gives_the_rotation_back(roll, pitch, yaw):
    rotation = Rotation.from_euler('xyz', [roll, yaw / 3 if pitch is None else pitch, yaw])
    angles = geometry.roll_pitch_yaw(rotation.as_matrix())
    np.testing.assert_allclose(
        Rotation.from_euler('xyz', angles).as_matrix(), rotation.as_matrix(), atol=2e-6)


def test_square_frames_have_square_angles_despite_noise():
    for rotation in Rotation.create_group('O').as_matrix():
        noisy = rotation + 1e-16 * np.random.default_rng(0).normal(size=(3, 3))
        angles = geometry.roll_pitch_yaw(noisy)
        np.testing.assert_array_equal(angles, geometry.roll_pitch_yaw(rotation))
        assert set(np.abs(angles)) <= {0.0, np.pi / 2, np.pi}


@given(st.floats(-1e6, 1e6))
def test_numbers_are_never_minus_zero_and_keep_twelve_decimals(value):
    text = Writer().number(value)
    assert text != '-0'
    assert float(text) == pytest.approx(value, rel=1e-11, abs=1e-12)
    assert float(Writer(exact=True).number(value)) == value


def test_products_do_not_depend_on_blas():
    random = np.random.default_rng(0)
    a, b, v = random.normal(size=(3, 3)), random.normal(size=(3, 3)), random.normal(size=3)
    np.testing.assert_allclose(geometry.times(a, b), a @ b)
    np.testing.assert_allclose(geometry.times(a, v), a @ v)


def test_a_variation_without_seed_changes_nothing():
    calm, p = Variation(), np.array([0.1, -0.2, 0.3])
    np.testing.assert_array_equal(calm.point(p, 1.0), p)
    assert calm.scale(0.3) == 0.3
    assert calm.loss(0.0, 'revolute') == 0.0
    np.testing.assert_allclose(calm.direction([0.0, 0.0, 2.0]), [0.0, 0.0, 1.0])


def test_families_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        shipped.SHIPPED['delta'].arm_mass = 3.0
