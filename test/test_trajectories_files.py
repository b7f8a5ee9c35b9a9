"""Motions in CSV files."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import parallel_dynamics as pd
from parallel_dynamics import trajectories as tr

HOME = pd.PlatformMotion([0.0, 0.0, 1.0])
SWING = tr.swing(HOME, [0.1, 0.2, 0.05, 0.3, 0.2, 0.4], 3.0)
TIMES = SWING.grid(40.0)
MOTION = SWING.sample(TIMES)


def table(path, columns, header, comment=''):
    np.savetxt(path, np.column_stack(columns), delimiter=',', header=header, comments='')
    path.write_text(comment + path.read_text())
    return path


def test_what_is_written_is_read_back(tmp_path):
    path = tmp_path / 'motion.csv'
    tr.write_motion(path, TIMES, MOTION)
    assert path.read_text().startswith('time,x,y,z,qx,qy,qz,qw,vx,vy,vz,wx,wy,wz,ax')
    times, motion = tr.read_motion(path)
    np.testing.assert_allclose(times, TIMES)
    np.testing.assert_allclose(motion.data, MOTION.data, atol=1e-12)


def test_missing_derivatives_come_from_a_spline(tmp_path):
    quaternion = Rotation.from_matrix(np.array(MOTION.rotation)).as_quat()
    path = table(
        tmp_path / 'poses.csv', [TIMES + 5.0, MOTION.position, quaternion],
        'time,x,y,z,qx,qy,qz,qw', '# a comment\n',
    )  # fmt: skip
    times, motion = tr.read_motion(path)
    assert times[0] == 5.0
    np.testing.assert_allclose(motion.twist, MOTION.twist, atol=1e-3)
    np.testing.assert_allclose(motion.twist_rate, MOTION.twist_rate, atol=0.2)
    trajectory = tr.read_trajectory(path)
    assert trajectory.duration == pytest.approx(3.0)
    np.testing.assert_allclose(trajectory.at(1.1).twist, SWING.at(1.1).twist, atol=1e-3)


def test_angles_are_those_of_urdf_and_columns_may_move(tmp_path):
    angles = np.linspace([0.0, 0.0, 0.0], [0.3, -0.2, 0.5], 7)
    path = table(
        tmp_path / 'angles.csv', [angles, np.zeros((7, 3)), np.arange(7.0)],
        'roll,pitch,yaw,x,y,z,time',
    )  # fmt: skip
    _, motion = tr.read_motion(path)
    expected = Rotation.from_euler('ZYX', [0.5, -0.2, 0.3]).as_matrix()
    np.testing.assert_allclose(motion.rotation[-1], expected, atol=1e-12)


BAD = {
    'unknown column': ('time,x,y,z,qx,qy,qz,qw,speed\n' + '0,0,0,0,0,0,0,1,1\n' * 3, 'speed'),
    'missing column': ('time,x,y,qx,qy,qz,qw\n' + '0,0,0,0,0,0,1\n' * 3, 'z missing'),
    'no rotation': ('time,x,y,z\n0,0,0,0\n1,0,0,0\n', 'either qx,qy,qz,qw or roll,pitch,yaw'),
    'two rotations': (
        'time,x,y,z,qx,qy,qz,qw,roll,pitch,yaw\n' + '0,' * 10 + '0\n' + '1,' * 10 + '1\n',
        'either',
    ),  # fmt: skip
    'twice': ('time,x,x,y,z,roll,pitch,yaw\n' + '0,0,0,0,0,0,0,0\n' * 2, 'twice'),
    'acceleration alone': (
        'time,x,y,z,roll,pitch,yaw,ax,ay,az,alx,aly,alz\n' + '0,' * 12 + '0\n' + '1,' * 12 + '1\n',
        'without velocities',
    ),  # fmt: skip
    'not a number': ('time,x,y,z,roll,pitch,yaw\n0,0,0,0,0,0,0\n1,a,0,0,0,0,0\n', 'line 3'),
    'short row': ('time,x,y,z,roll,pitch,yaw\n0,0,0,0,0,0,0\n1,0,0,0,0,0\n', 'line 3'),
    'nan': ('time,x,y,z,roll,pitch,yaw\n0,0,0,0,0,0,0\n1,nan,0,0,0,0,0\n', 'line 3'),
    'backwards': ('time,x,y,z,roll,pitch,yaw\n1,0,0,0,0,0,0\n0,0,0,0,0,0,0\n', 'increasing'),
    'no unit': ('time,x,y,z,qx,qy,qz,qw\n0,0,0,0,0,0,0,1\n1,0,0,0,0,0,0,2\n', 'line 3'),
    'empty': ('', 'at least two rows'),
}


@pytest.mark.parametrize('kind', BAD)
def test_bad_files_are_refused_with_the_place(tmp_path, kind):
    text, words = BAD[kind]
    path = tmp_path / 'bad.csv'
    path.write_text(text)
    with pytest.raises(pd.InputError, match=words):
        tr.read_motion(path)


def test_a_file_that_is_not_text(tmp_path):
    path = tmp_path / 'binary.csv'
    path.write_bytes(bytes(range(256)))
    with pytest.raises(pd.InputError, match='cannot be read'):
        tr.read_trajectory(path)


def test_writing_needs_a_time_for_each_motion(tmp_path):
    with pytest.raises(pd.InputError, match='one for each'):
        tr.write_motion(tmp_path / 'motion.csv', TIMES[1:], MOTION)
