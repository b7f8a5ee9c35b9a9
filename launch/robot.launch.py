"""Controller and estimator against the topics of a real robot, and its display.

    ros2 launch parallel_dynamics robot.launch.py robot:=my_robot.yaml activate:=true

The robot's driver publishes joint_states (the actuated joints suffice) and takes effort_commands;
other names: set_remap, or a launch file that includes this one in a group with SetRemap. Nothing
moves before the controller is activated: by activate:=true, or by
`ros2 lifecycle set /controller activate`.
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
    DeclareLaunchArgument('robot', description='shipped robot, or path of a YAML file'),
    DeclareLaunchArgument(
        'mode', default_value='', description="control law, instead of the parameter file's"
    ),
    DeclareLaunchArgument(
        'rate', default_value='', description="of control, Hz, instead of the parameter file's"
    ),
    DeclareLaunchArgument('namespace', default_value='', description='of all nodes and of tf'),
    DeclareLaunchArgument(
        'use_sim_time', default_value='false', choices=YES_OR_NO, description='follow /clock'
    ),
    DeclareLaunchArgument(
        'rviz', default_value='false', choices=YES_OR_NO, description='open RViz'
    ),
    DeclareLaunchArgument(
        'params_file', default_value='', description='parameters that replace the shipped ones'
    ),
    DeclareLaunchArgument(
        'activate', default_value='false', choices=YES_OR_NO,
        description='activate the controller: efforts go out as soon as joint states come in',
    ),
    DeclareLaunchArgument(
        'state_publisher', default_value='auto', choices=['auto', *YES_OR_NO],
        description='start robot_state_publisher; auto: if it is installed',
    ),
]  # fmt: skip


def start(context):
    def given(name):
        return LaunchConfiguration(name).perform(context)

    share = Path(get_package_share_directory('parallel_dynamics'))
    files = [str(share / 'config' / 'params' / 'robot.yaml')]
    if given('params_file'):
        files.append(given('params_file'))
    every = {'robot': given('robot'), 'use_sim_time': given('use_sim_time') == 'true'}
    place = {'namespace': given('namespace'), 'output': 'screen'}

    controller = {**every, 'autostart': False}
    if given('mode'):
        controller['mode'] = given('mode')
    if given('rate'):
        controller['rate'] = float(given('rate'))
    # robot_state_publisher needs all joints, also those that the robot cannot measure.
    estimator = {**every, 'complete_joint_states': 'always'}

    controlling = LifecycleNode(
        package='parallel_dynamics', executable='controller', name='controller',
        parameters=[*files, controller], **place,
    )  # fmt: skip
    actions = [
        controlling,
        *readied(controlling, given('activate') == 'true'),
        Node(
            package='parallel_dynamics', executable='joint_force_estimator',
            name='joint_force_estimator', parameters=[*files, estimator], **place,
        ),
    ]  # fmt: skip
    names = ('robot', 'namespace', 'use_sim_time', 'rviz', 'state_publisher')
    arguments = [(name, given(name)) for name in names]
    actions.append(GroupAction([IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(share / 'launch' / 'view.launch.py')),
        launch_arguments=[*arguments, ('joint_states', 'joint_states_complete')],
    )]))  # fmt: skip
    return actions


def readied(node, activate):
    """Return what configures a lifecycle node at the start, and activates it if asked for."""

    def change(transition):
        return EmitEvent(event=ChangeState(
            lifecycle_node_matcher=matches_action(node), transition_id=transition
        ))  # fmt: skip

    on_configured = RegisterEventHandler(OnStateTransition(
        target_lifecycle_node=node, start_state='configuring', goal_state='inactive',
        entities=[change(Transition.TRANSITION_ACTIVATE)],
    ))  # fmt: skip
    configure = change(Transition.TRANSITION_CONFIGURE)
    return [on_configured, configure] if activate else [configure]


def generate_launch_description():
    return LaunchDescription([*ARGUMENTS, OpaqueFunction(function=start)])
