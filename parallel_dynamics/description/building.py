"""From the plain data of URDF and YAML to the frozen model of a parallel robot."""

from __future__ import annotations

from dataclasses import replace

from parallel_dynamics.description.bodies import Bodies, find_bodies
from parallel_dynamics.description.chain import COORDINATES, Chain, find_chain
from parallel_dynamics.description.faults import ACTUATION, Faults, suggest
from parallel_dynamics.description.legs import find_legs
from parallel_dynamics.description.mimics import resolve_mimics
from parallel_dynamics.description.settings import Settings
from parallel_dynamics.description.tree import JointData, Tree
from parallel_dynamics.model import Closure, Frame, Joint, RobotModel, frozen


def build_model(settings: Settings, tree: Tree, faults: Faults) -> RobotModel | None:
    """Return the model; None where the tree is too broken to make one.

    Whatever is left out because it is faulty has its fault; ask ``faults.sound`` before trusting
    the result.
    """
    chain = find_chain(settings, tree, faults)
    bodies = None if chain is None else find_bodies(tree, chain, faults)
    if chain is None or bodies is None:
        _look_up(settings, tree, faults)
        return None
    joints = _joints(settings, tree, chain, bodies, faults)
    closures = _closures(settings, tree, bodies, faults)
    return RobotModel(
        name=settings.name or settings.path.stem,
        bodies=bodies.bodies,
        joints=joints,
        closures=closures,
        legs=find_legs(joints, closures),
        chain=chain.joints,
        platform_rotation=chain.platform_rotation,
        platform_position=chain.platform_position,
        actuators=_actuators(settings, tree, joints, faults),
        gravity=frozen(settings.gravity, (3,)),
        independent=_independent(settings, chain, faults),
        frames=tuple(bodies.frames.values()),
        source=settings.source,
        path=settings.path,
        urdf_path=tree.path,
    )


def _look_up(settings: Settings, tree: Tree, faults: Faults) -> None:
    """Report names that are nowhere in the tree, when there is no model to look them up in."""
    driven = [
        name for name, joint in tree.joints.items() if joint.movable and name not in COORDINATES
    ]
    for element, names in (
        ('actuators', settings.actuators),
        ('armature', list(settings.armature)),
    ):
        for name in names:
            if name not in tree.joints and name not in tree.unread:
                problem = f'unknown joint {name!r}'
                faults.add(settings.path, element, problem, suggest(name, driven))
    virtual = [name for name in COORDINATES if name in tree.joints]
    for name in settings.independent or ():
        if name not in virtual:
            problem = f'unknown platform coordinate {name!r}'
            faults.add(settings.path, 'independent', problem, suggest(name, virtual))
    for closure in settings.closures:
        for name in closure.between:
            if name not in tree.links:
                problem = f'unknown frame {name!r}'
                faults.add(settings.path, closure.element, problem, suggest(name, tree.links))


def _joints(
    settings: Settings, tree: Tree, chain: Chain, bodies: Bodies, faults: Faults
) -> tuple[Joint, ...]:
    mimics = resolve_mimics(tree, [joint.name for joint in bodies.moving], chain.names, faults)
    armature = dict(settings.armature)
    joints = []
    for data in bodies.moving:
        joint = _joint(data, bodies)
        joints.append(
            replace(joint, mimic=mimics.get(data.name), armature=armature.pop(data.name, 0.0))
        )
    names = [joint.name for joint in joints]
    for name in armature:
        problem, remedy = _why_not(name, tree, chain.names, names)
        faults.add(settings.path, f'armature of {name!r}', problem, remedy, spoils=None)
    return tuple(joints)


def _joint(data: JointData, bodies: Bodies) -> Joint:
    parent = bodies.frames[data.parent]
    return Joint(
        name=data.name,
        kind='prismatic' if data.kind == 'prismatic' else 'revolute',
        parent=parent.body,
        rotation=frozen(parent.rotation @ data.rotation, (3, 3)),
        position=frozen(parent.position + parent.rotation @ data.position, (3,)),
        axis=frozen(data.axis, (3,)),
        lower=data.lower,
        upper=data.upper,
        velocity_limit=data.velocity_limit,
        effort_limit=data.effort_limit,
        damping=data.damping,
        friction=data.friction,
    )


def _why_not(name: str, tree: Tree, virtual: tuple[str, ...], known: list[str]) -> tuple[str, str]:
    """Return problem and remedy for a joint name that cannot stand where a leg's joint must."""
    if name in virtual:
        return (
            f'{name!r} is a virtual joint of the platform, which carries no load',
            'Name a joint of a leg.',
        )
    if name in tree.joints:
        return f'{name!r} is a {tree.joints[name].kind} joint', 'Name a joint that moves a leg.'
    return f'unknown joint {name!r}', suggest(name, known)


def _closures(
    settings: Settings, tree: Tree, bodies: Bodies, faults: Faults
) -> tuple[Closure, ...]:
    closures = []
    joints = {joint.name for joint in bodies.moving}
    for data in settings.closures:
        if data.name in joints:
            faults.add(
                settings.path,
                data.element,
                'a joint of the URDF has this name too',
                'Give it its own name; joint forces are asked for by name.',
                spoils=None,
            )
        frames: list[Frame] = []
        for name in data.between:
            if name in bodies.frames:
                frames.append(bodies.frames[name])
            elif name in bodies.virtual:
                faults.add(
                    settings.path,
                    data.element,
                    f'frame {name!r} is on the virtual chain of the platform, which carries no '
                    'load',
                    'Fix the frame to the platform link.',
                )
            else:
                faults.add(
                    settings.path,
                    data.element,
                    f'unknown frame {name!r}',
                    f'{suggest(name, bodies.frames)} A frame is a link of {tree.path.name}.',
                )
        if len(frames) != 2:
            continue
        if frames[0].body == frames[1].body:
            faults.add(
                settings.path,
                data.element,
                f'{data.between[0]!r} and {data.between[1]!r} are on the same body '
                f'{bodies.bodies[frames[0].body].name!r}',
                'A closure joins two bodies.',
            )
            continue
        closures.append(Closure(data.name, data.kind, frames[0], frames[1]))
    return tuple(closures)


def _actuators(
    settings: Settings, tree: Tree, joints: tuple[Joint, ...], faults: Faults
) -> tuple[int, ...]:
    index = {joint.name: j for j, joint in enumerate(joints)}
    virtual = tuple(
        name for name in tree.joints if name not in index and tree.joints[name].movable
    )
    actuators = []
    for name in settings.actuators:
        if name not in index:
            problem, remedy = _why_not(name, tree, virtual, list(index))
            faults.add(settings.path, 'actuators', problem, remedy, spoils=ACTUATION)
        elif tree.joints[name].mimic is not None:
            leader = tree.joints[name].mimic
            faults.add(
                settings.path,
                'actuators',
                f'{name!r} mimics another joint and cannot have a drive of its own',
                f'Name the joint that it follows, {leader.joint!r}.' if leader else '',
                spoils=ACTUATION,
            )
        else:
            actuators.append(index[name])
    return tuple(actuators)


def _independent(settings: Settings, chain: Chain, faults: Faults) -> tuple[str, ...] | None:
    if settings.independent is None:
        return None
    good = []
    for name in settings.independent:
        if name in chain.names:
            good.append(name)
        else:
            faults.add(
                settings.path,
                'independent',
                f'unknown platform coordinate {name!r}',
                suggest(name, chain.names),
                spoils=None,
            )
    return tuple(good) if len(good) == len(settings.independent) else None
