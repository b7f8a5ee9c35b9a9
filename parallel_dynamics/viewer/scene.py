"""The robot in three dimensions: links, arrows, paths, floor, light and camera."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from parallel_dynamics.errors import ParallelDynamicsError
from parallel_dynamics.model import FIRST_LEG_BODY, PLATFORM
from parallel_dynamics.robot import Robot
from parallel_dynamics.spatial import Array
from parallel_dynamics.viewer.states import Arrows, Shown, effort_arrows, force_arrows

RED = (208, 44, 44)
KINDS = {
    'effort': ((22, 140, 78), 'actuator force', 'N'),
    'torque': ((15, 134, 140), 'actuator torque', 'N m'),
    'force': ((232, 126, 24), 'joint force', 'N'),
    'moment': ((128, 72, 178), 'joint moment', 'N m'),
}
"""Kinds of arrows: colour, name and unit."""
DESIRED, ACTUAL = (60, 66, 76), (214, 30, 120)
SEEN_THROUGH = 0.45
"""Opacity of the platform while there is a path, which would be hidden inside it."""


class RobotScene:
    """Draws a robot on a viser server, in a frame that is the robot's base.

    Attributes
    ----------
    size : float
        Radius of a ball about the robot at home, m.
    scales : dict of str to float
        Metres of arrow per N and per N m.
    kinds : list of str
        Those of ``KINDS`` that this robot can have.
    visible : dict of str to bool
        Which kinds of arrows are drawn.
    """

    def __init__(self, server: Any, robot: Robot, home: Shown) -> None:
        self._server, self._robot = server, robot
        self._root = server.scene.add_frame('/robot', show_axes=False)
        self._bodies: list[Any] = []
        self._meshes: dict[int, list[tuple[Any, tuple[int, int, int]]]] = {}
        self._red: set[int] = set()
        self._arrows: dict[str, Any] = {}
        self._paths: dict[str, Any] = {}
        corners = self._add_bodies()
        self._solid = [handle.opacity for handle, _ in self._meshes.get(PLATFORM, ())]
        self._clear = False
        self._bounds(home, corners)
        self._add_surroundings()
        drives = {robot.model.joints[j].kind for j in robot.model.actuators}
        lacking = {'effort': 'prismatic', 'torque': 'revolute'}
        self.kinds = [kind for kind in KINDS if lacking.get(kind) in (None, *drives)]
        self.visible = dict.fromkeys(KINDS, True)
        self.visible['moment'] = False
        self.scales = {unit: self._first_scale(home, unit) for unit in ('N', 'N m')}

    # ---------------------------------------------------------------- building

    def _add_bodies(self) -> dict[int, list[Array]]:
        """Add a frame for each body with the meshes of its links; return corners, body axes."""
        model = self._robot.model
        for body in model.bodies:
            frame = self._server.scene.add_frame(f'/robot/{body.name}', show_axes=False)
            self._bodies.append(frame)
        links = {frame.name: frame for frame in model.frames}
        corners: dict[int, list[Array]] = {}
        for count, (link, mesh, rgba) in enumerate(link_meshes(self._robot)):
            frame = links.get(link)
            if frame is None:
                continue
            vertices = mesh.vertices @ frame.rotation.T + frame.position
            colour = (int(rgba[0]), int(rgba[1]), int(rgba[2]))
            handle = self._server.scene.add_mesh_simple(
                f'/robot/{model.bodies[frame.body].name}/{count}',
                vertices.astype(np.float32), np.asarray(mesh.faces, np.uint32), color=colour,
                opacity=None if rgba[3] > 250 else rgba[3] / 255.0,
            )  # fmt: skip
            self._meshes.setdefault(frame.body, []).append((handle, colour))
            corners.setdefault(frame.body, []).extend([vertices.min(axis=0), vertices.max(axis=0)])
        return corners

    def _bounds(self, home: Shown, corners: dict[int, list[Array]]) -> None:
        points = [*home.origins]
        for body, local in corners.items():
            points += [home.origins[body] + home.rotations[body] @ corner for corner in local]
        low, high = np.min(points, axis=0), np.max(points, axis=0)
        self.centre = 0.5 * (low + high)
        self.size = 0.5 * float(np.linalg.norm(high - low))
        self._floor = float(low[2]) - 0.03 * self.size

    def _add_surroundings(self) -> None:
        scene, size = self._server.scene, self.size
        cell = 10.0 ** np.floor(np.log10(size))
        scene.add_grid(
            '/floor', 40.0 * size, 40.0 * size, cell_size=cell, section_size=5 * cell,
            cell_color=(222, 226, 232), section_color=(196, 203, 213), plane_color=(247, 249, 251),
            plane_opacity=1.0, fade_distance=14.0 * size, shadow_opacity=0.18,
            position=(0.0, 0.0, self._floor),
        )  # fmt: skip
        scene.configure_default_lights(enabled=False)
        scene.add_light_hemisphere(
            '/sky', sky_color=(255, 255, 255), ground_color=(198, 204, 214), intensity=1.25
        )
        away = self.centre + size * np.array([1.8, -1.2, 3.6])
        scene.add_light_directional(
            '/sun', intensity=1.7, cast_shadow=True, position=tuple(away.tolist())
        )
        back = self.centre + size * np.array([-2.5, 2.0, 1.5])
        scene.add_light_directional('/fill', intensity=0.5, position=tuple(back.tolist()))
        camera = self._server.initial_camera
        target = self.centre + 0.3 * size * np.array([0.77, 0.64, 0.0])  # right: the panel's side
        camera.look_at = tuple(target.tolist())
        camera.position = tuple((target + size * np.array([1.75, -2.1, 1.05])).tolist())
        camera.fov = float(np.radians(38.0))

    def _first_scale(self, shown: Shown, unit: str) -> float:
        """Return m per N or N m, of 1, 2 or 5, such that arrows at home are easy to see."""
        wanted = [k for k in KINDS if KINDS[k][2] == unit]
        lengths = [np.linalg.norm(self._of(k, shown).vectors, axis=1) for k in wanted]
        largest = float(max((part.max(initial=0.0) for part in lengths), default=0.0))
        return nice(0.5 * self.size / largest) if largest > 1e-9 else self.size

    # ---------------------------------------------------------------- showing

    def show(self, shown: Shown) -> None:
        """Put everything where it belongs; what is beyond a limit turns red."""
        quaternions = Rotation.from_matrix(shown.rotations).as_quat()[:, [3, 0, 1, 2]]
        for frame, position, wxyz in zip(self._bodies, shown.origins, quaternions):
            frame.position, frame.wxyz = position, wxyz
        beyond = {v.joint for v in shown.violations if v.quantity == 'position'}
        self._colour({self._robot.joints.index(name) + FIRST_LEG_BODY for name in beyond})
        overloaded = {v.joint for v in shown.violations if v.quantity == 'effort'}
        for kind in KINDS:
            self._draw(kind, self._of(kind, shown), overloaded)

    @property
    def visible_robot(self) -> bool:
        """Whether the robot is drawn, with all that belongs to it."""
        return bool(self._root.visible)

    @visible_robot.setter
    def visible_robot(self, value: bool) -> None:
        self._root.visible = value

    def tilt(self, rotation: Array) -> None:
        """Turn the base in the world."""
        self._root.wxyz = Rotation.from_matrix(rotation).as_quat()[[3, 0, 1, 2]]

    def path(self, name: str, points: Array, colour: tuple[int, int, int]) -> None:
        """Draw a line through points (k, 3), base frame; fewer than two remove it."""
        if name in self._paths:
            self._paths.pop(name).remove()
        if len(points) > 1:
            self._paths[name] = self._server.scene.add_line_segments(
                f'/robot/paths/{name}', np.stack([points[:-1], points[1:]], axis=1), colour,
                thickness=0.006 * self.size,
            )  # fmt: skip
        self._see_through(bool(self._paths))

    def _see_through(self, clear: bool) -> None:
        if clear == self._clear:
            return
        self._clear = clear
        for (handle, _), opacity in zip(self._meshes.get(PLATFORM, ()), self._solid):
            handle.opacity = min(SEEN_THROUGH, opacity or 1.0) if clear else opacity

    def _of(self, kind: str, shown: Shown) -> Arrows:
        if kind in ('effort', 'torque'):
            joint = 'prismatic' if kind == 'effort' else 'revolute'
            return effort_arrows(self._robot, shown, joint)
        return force_arrows(self._robot, shown, slice(0, 3) if kind == 'force' else slice(3, 6))

    def _colour(self, red: set[int]) -> None:
        for body in red ^ self._red:
            for handle, colour in self._meshes.get(body, ()):
                handle.color = RED if body in red else colour
        self._red = red

    def _draw(self, kind: str, arrows: Arrows, overloaded: set[str]) -> None:
        colour, _, unit = KINDS[kind]
        ends = arrows.points + self.scales[unit] * arrows.vectors
        length = np.linalg.norm(ends - arrows.points, axis=1)
        # Nothing to see below a hundredth of the robot, and an arrow of length zero is NaN.
        long = np.isfinite(length) & (length > 0.01 * self.size)
        handle = self._arrows.get(kind)
        if not self.visible[kind] or not long.any():
            if handle is not None:
                handle.visible = False
            return
        points = np.stack([arrows.points, ends], axis=1)[long].astype(np.float32)
        red = kind in ('effort', 'torque')
        shown = [name for name, keep in zip(arrows.names, long) if keep]
        colours = np.array([RED if red and n in overloaded else colour for n in shown])
        # Arrows take the amount of light, not the colour of a screen as everything else does.
        colours = (255.0 * (colours / 255.0) ** 2.2).astype(np.uint8)
        if handle is None:
            width = (0.012 if red else 0.008) * self.size
            self._arrows[kind] = self._server.scene.add_arrows(
                f'/robot/arrows/{kind}', points, colours, shaft_radius=width,
                head_radius=2.6 * width, head_length=6.0 * width,
            )  # fmt: skip
        else:
            handle.points, handle.colors = points, colours
            handle.visible = True


def nice(value: float) -> float:
    """Return the nearest 1, 2 or 5 times a power of ten that is not above the value."""
    power = 10.0 ** np.floor(np.log10(value))
    return float(max(k for k in (1.0, 2.0, 5.0) if k <= value / power * (1.0 + 1e-9)) * power)


def link_meshes(robot: Robot) -> list[tuple[str, Any, Sequence[int]]]:
    """Return (link, mesh in link axes, rgba) of everything that the URDF shows."""
    import yourdfpy

    path = robot.model.urdf_path
    if path is None:
        raise ParallelDynamicsError(f'{robot.name}: expected a URDF file to draw, there is none')
    try:
        urdf = yourdfpy.URDF.load(str(path), build_collision_scene_graph=False)
    except (OSError, ValueError, KeyError, AttributeError, ImportError) as error:
        raise ParallelDynamicsError(
            f'{path}: its visuals cannot be drawn ({error}); check the meshes that it names'
        ) from None
    graph = urdf.scene.graph
    found = []
    for node in graph.nodes_geometry:
        link = graph.transforms.parents[node]
        transform, name = graph.get(node, link)
        mesh = urdf.scene.geometry[name].copy()
        rgba = _main_colour(mesh)
        mesh.apply_transform(transform)
        found.append((link, mesh.smooth_shaded, rgba))
    return found


def _main_colour(mesh: Any) -> Sequence[int]:
    """Return the one colour of a mesh; textures are not drawn."""
    visual = mesh.visual if hasattr(mesh.visual, 'main_color') else mesh.visual.to_color()
    return [int(c) for c in visual.main_color]
