"""Visuals of a URDF as MuJoCo's geoms: looks only, without mass or contact."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lxml import etree
import numpy as np
from scipy.spatial.transform import Rotation

from parallel_dynamics.description.conversion.document import numbers
from parallel_dynamics.description.tree import rotation_of
from parallel_dynamics.model import RobotModel
from parallel_dynamics.spatial import Array


def add_geoms(
    root: Any,
    model: RobotModel,
    elements: Mapping[int, Any],
    seat: Callable[[int], tuple[int, Array, Array]],
) -> None:
    """Add primitive visuals to the bodies of an MJCF file; meshes are left out.

    Parameters
    ----------
    root : element
        The URDF.
    model : RobotModel
        The robot.
    elements : mapping
        MJCF element of each body.
    seat : function
        For a body, the one whose element shows it and its pose there.
    """
    frames = {frame.name: frame for frame in model.frames}
    colours = {m.get('name'): m.find('color') for m in root.findall('material')}
    for link in root.findall('link'):
        frame = frames.get(link.get('name'))
        if frame is None:
            continue
        body, rotation, position = seat(frame.body)
        position = position + rotation @ frame.position
        rotation = rotation @ frame.rotation
        for visual in link.findall('visual'):
            geom = _geom(visual, rotation, position)
            if geom is not None:
                geom.set('rgba', _colour(visual, colours))
                elements[body].append(geom)


def _geom(visual: Any, rotation: Array, position: Array) -> Any:
    shape = visual.find('geometry')
    shape = None if shape is None else next(iter(shape), None)
    size = None if shape is None else _size(shape)
    if shape is None or size is None:
        return None
    origin = visual.find('origin')
    xyz, rpy = (
        np.array(('0 0 0' if origin is None else origin.get(key, '0 0 0')).split(), float)
        for key in ('xyz', 'rpy')
    )
    x, y, z, w = Rotation.from_matrix(rotation @ rotation_of(rpy)).as_quat()
    return etree.Element(
        'geom', type=shape.tag, size=size, pos=numbers(position + rotation @ xyz),
        quat=numbers([w, x, y, z]), contype='0', conaffinity='0', group='1',
    )  # fmt: skip


def _size(shape: Any) -> str | None:
    """Return MuJoCo's size, which has half lengths."""
    if shape.tag == 'box':
        return numbers(0.5 * np.array(shape.get('size').split(), float))
    if shape.tag == 'cylinder':
        return numbers([float(shape.get('radius')), 0.5 * float(shape.get('length'))])
    if shape.tag == 'sphere':
        return numbers(float(shape.get('radius')))
    return None


def _colour(visual: Any, colours: Mapping[Any, Any]) -> str:
    material = visual.find('material')
    if material is None:
        return '0.6 0.6 0.6 1'
    colour = material.find('color')
    colour = colours.get(material.get('name')) if colour is None else colour
    return '0.6 0.6 0.6 1' if colour is None else str(colour.get('rgba'))
