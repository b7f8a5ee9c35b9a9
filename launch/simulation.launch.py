"""The closed loop in simulation: simulator, controller, estimator, trajectory source, display.

    ros2 launch parallel_dynamics simulation.launch.py robot:=delta rviz:=true

Two robots at once: start it twice, with namespace:=left and namespace:=right.
"""

from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    EmitEvent,
    GroupAction,
    IncludeLaunchDescription,
    OpaqueFunction,
    RegisterEventHandler,
)
from launch.events import matches_action
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import LifecycleNode, Node
from launch_ros.event_handlers import OnStateTransition
from launch_ros.events.lifecycle import ChangeState
from lifecycle_msgs.msg import Transition

YES_OR_NO = ['true', 'false']

ARGUMENTS = [
    DeclareLaunchArgument(
        'robot', default_value='gough_stewart', description='shipped robot, or path of a YAML file'
    ),
    DeclareLaunchArgument(
        'mode', default_value='', description="control law, instead of the parameter file's"
    ),
    DeclareLaunchArgument(
        'rate', default_value='', description="of control and states, Hz, instead of the file's"
    ),
    DeclareLaunchArgument('namespace', default_value='', description='of all nodes and of tf'),
    DeclareLaunchArgument(
        'use_sim_time', default_value='false', choices=YES_OR_NO,
        description='the simulator publishes /clock, and the nodes follow it',
    ),
    DeclareLaunchArgument(
        'rviz', default_value='false', choices=YES_OR_NO, description='open RViz'
    ),
    DeclareLaunchArgument(
        'params_file', default_value='', description='parameters that replace the shipped ones'
    ),
    DeclareLaunchArgument(
        'trajectory', default_value='true', choices=YES_OR_NO,
        description='start the trajectory source',
    ),
    DeclareLaunchArgument(
        'state_publisher', default_value='auto', choices=['auto', *YES_OR_NO],
        description='start robot_state_publisher; auto: if it is installed',
    ),
]  # fmt: skip

# The simulator publishes platform/*: what the estimator finds stands beside it.
ESTIMATES = [(f'platform/{name}', f'platform_estimate/{name}')
             for name in ('pose', 'twist', 'accel')]  # fmt: skip


def start(context):
    def given(name):
        return LaunchConfiguration(name).perform(context)

    share = Path(get_package_share_directory('parallel_dynamics'))
    sim_time = given('use_sim_time') == 'true'
    files = [str(share / 'config' / 'params' / 'simulation.yaml')]
    if given('params_file'):
        files.append(given('params_file'))
    every = {'robot': given('robot'), 'use_sim_time': sim_time}
    place = {'namespace': given('namespace'), 'output': 'screen'}

    simulator = {**every, 'publish_clock': sim_time}
    controller = {**every, 'autostart': False}
    if given('mode'):
        controller['mode'] = given('mode')
    if given('rate'):
        simulator['publish_rate'] = float(given('rate'))
        controller['rate'] = float(given('rate'))

    controlling = LifecycleNode(
        package='parallel_dynamics', executable='controller', name='controller',
        parameters=[*files, controller], **place,
    )  # fmt: skip
    actions = [
        Node(
            package='parallel_dynamics', executable='simulator', name='simulator',
            parameters=[*files, simulator], **place,
        ),
        controlling,
        *activated(controlling),
        Node(
            package='parallel_dynamics', executable='joint_force_estimator',
            name='joint_force_estimator', parameters=[*files, every], remappings=ESTIMATES,
            **place,
        ),
    ]  # fmt: skip
    if given('trajectory') == 'true':
        actions.append(Node(
            package='parallel_dynamics', executable='trajectory_source', name='trajectory_source',
            parameters=[*files, every], **place,
        ))  # fmt: skip
    names = ('robot', 'namespace', 'use_sim_time', 'rviz', 'state_publisher')
    actions.append(GroupAction([IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(share / 'launch' / 'view.launch.py')),
        launch_arguments=[(name, given(name)) for name in names],
    )]))  # fmt: skip
    return actions


def activated(node):
    """Return what configures a lifecycle node at the start, and then activates it."""

    def change(transition):
        return EmitEvent(event=ChangeState(
            lifecycle_node_matcher=matches_action(node), transition_id=transition
        ))  # fmt: skip

    return [
        RegisterEventHandler(OnStateTransition(
            target_lifecycle_node=node, start_state='configuring', goal_state='inactive',
            entities=[change(Transition.TRANSITION_ACTIVATE)],
        )),
        change(Transition.TRANSITION_CONFIGURE),
    ]  # fmt: skip


def generate_launch_description():
    return LaunchDescription([*ARGUMENTS, OpaqueFunction(function=start)])
