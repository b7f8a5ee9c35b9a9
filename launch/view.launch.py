"""Show a robot: robot_state_publisher, and RViz with its joint forces and paths.

    ros2 launch parallel_dynamics view.launch.py robot:=delta standing:=true

Without a robot or a simulation that publishes joint states, `standing:=true` starts one that
stands still at home.
"""

from pathlib import Path

from ament_index_python.packages import PackageNotFoundError, get_package_share_directory
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, LogInfo, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
import yaml

from parallel_dynamics.resources import robot_files

YES_OR_NO = ['true', 'false']

ARGUMENTS = [
    DeclareLaunchArgument(
        'robot', default_value='gough_stewart', description='shipped robot, or path of a YAML file'
    ),
    DeclareLaunchArgument('namespace', default_value='', description='of all topics and of tf'),
    DeclareLaunchArgument(
        'use_sim_time', default_value='false', choices=YES_OR_NO, description='follow /clock'
    ),
    DeclareLaunchArgument(
        'rviz', default_value='true', choices=YES_OR_NO, description='open RViz'
    ),
    DeclareLaunchArgument(
        'rviz_config', default_value='', description='instead of the shipped configuration'
    ),
    DeclareLaunchArgument(
        'joint_states', default_value='joint_states',
        description='topic with all joints; of a real robot: joint_states_complete',
    ),
    DeclareLaunchArgument(
        'state_publisher', default_value='auto', choices=['auto', *YES_OR_NO],
        description='start robot_state_publisher; auto: if it is installed',
    ),
    DeclareLaunchArgument(
        'standing', default_value='false', choices=YES_OR_NO,
        description='also start a simulator that holds the robot at home',
    ),
]  # fmt: skip

# In a namespace every robot has its own tree of frames, so that frames keep their URDF names.
TF = [('/tf', 'tf'), ('/tf_static', 'tf_static')]


def installed(package):
    try:
        return bool(get_package_share_directory(package))
    except PackageNotFoundError:
        return False


def read_description(robot):
    """Return the URDF's text and the name of the base link."""
    path = robot_files().get(robot, Path(robot).expanduser())
    if not path.is_file():
        names = ', '.join(robot_files())
        raise FileNotFoundError(f'robot: expected one of {names} or a YAML file, got {robot!r}')
    settings = yaml.safe_load(path.read_text(encoding='utf-8'))
    urdf = path.parent / settings['urdf']
    return urdf.read_text(encoding='utf-8'), settings['base']


def start(context):
    def given(name):
        return LaunchConfiguration(name).perform(context)

    robot, namespace = given('robot'), given('namespace')
    clock = {'use_sim_time': given('use_sim_time') == 'true'}
    urdf, base = read_description(robot)
    actions = []
    wanted = given('state_publisher')
    if wanted == 'true' or (wanted == 'auto' and installed('robot_state_publisher')):
        actions.append(Node(
            package='robot_state_publisher', executable='robot_state_publisher',
            namespace=namespace, parameters=[{'robot_description': urdf, **clock}],
            remappings=[*TF, ('joint_states', given('joint_states'))], output='screen',
        ))  # fmt: skip
    elif wanted == 'auto':
        actions.append(LogInfo(msg='robot_state_publisher is not installed: no tf frames'))
    if given('standing') == 'true':
        actions.append(Node(
            package='parallel_dynamics', executable='simulator', name='simulator',
            namespace=namespace, output='screen',
            parameters=[{'robot': robot, 'brakes': True, 'publish_rate': 50.0, **clock}],
        ))  # fmt: skip
    if given('rviz') == 'true':
        share = Path(get_package_share_directory('parallel_dynamics'))
        config = given('rviz_config') or str(share / 'rviz' / 'parallel_dynamics.rviz')
        actions.append(Node(
            package='rviz2', executable='rviz2', namespace=namespace, parameters=[clock],
            arguments=['-d', config, '-f', base], remappings=TF,
        ))  # fmt: skip
    return actions


def generate_launch_description():
    return LaunchDescription([*ARGUMENTS, OpaqueFunction(function=start)])
