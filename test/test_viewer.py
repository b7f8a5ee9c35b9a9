"""The viewer: what is shown is what the library says, and a real browser shows it."""

from __future__ import annotations

import re
import socket
import threading
import time

import browser as page_of
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import parallel_dynamics as pd
from parallel_dynamics import trajectories, viewer
from parallel_dynamics.viewer import html
from parallel_dynamics.viewer.handles import turned
from parallel_dynamics.viewer.live import LivePage
from parallel_dynamics.viewer.player import Player
from parallel_dynamics.viewer.posing import Posing
from parallel_dynamics.viewer.scene import link_meshes, nice
from parallel_dynamics.viewer.states import effort_arrows, force_arrows

ROBOTS = ['gough_stewart', 'delta', 'three_rps_prismatic']


@pytest.fixture(scope='module', params=ROBOTS)
def posing(request):
    return Posing(pd.load_robot(request.param))


# ---------------------------------------------------------------- what is shown


def test_legs_follow_by_inverse_kinematics(posing):
    name = posing.names[-1]
    now = posing.coordinates()[name]
    assert posing.ask({name: now + 0.05}) and not posing.refusal
    assert posing.coordinates()[name] == pytest.approx(now + 0.05, abs=1e-9)
    shown, robot = posing.shown, posing.robot
    np.testing.assert_array_equal(
        shown.joints.position, robot.inverse_kinematics(shown.motion).position
    )
    np.testing.assert_allclose(shown.efforts, robot.inverse_dynamics(shown.motion), rtol=1e-9)
    posing.ask({name: now})


def test_closures_are_closed_where_the_bodies_are_drawn(posing):
    shown = posing.shown
    for closure in posing.robot.model.closures:
        if closure.kind == 'plane':
            continue
        ends = [shown.origins[f.body] + shown.rotations[f.body] @ f.position
                for f in (closure.first, closure.second)]  # fmt: skip
        np.testing.assert_allclose(ends[0], ends[1], atol=1e-6)


def test_arrows_on_the_platform_balance_its_weight(posing):
    """Forces of the closures, drawn in base axes, carry the platform."""
    robot, shown = posing.robot, posing.shown
    arrows = force_arrows(robot, shown, slice(0, 3))
    total = np.zeros(3)
    for closure in robot.model.closures:
        force = arrows.vectors[arrows.names.index(closure.name)]
        total += force * ((closure.second.body == 1) - (closure.first.body == 1))
    weight = robot.model.bodies[1].inertia.mass * robot.model.gravity
    np.testing.assert_allclose(total, -weight, atol=1e-6 * np.linalg.norm(weight))


def test_arrows_of_drives_are_their_efforts(posing):
    sizes = {}
    for kind in ('prismatic', 'revolute'):
        arrows = effort_arrows(posing.robot, posing.shown, kind)
        sizes.update(zip(arrows.names, np.linalg.norm(arrows.vectors, axis=1)))
    expected = dict(zip(posing.robot.actuators, np.abs(posing.shown.efforts)))
    assert sizes == pytest.approx(expected)


def test_refused_pose_leaves_the_last_good_one():
    posing = Posing(pd.load_robot('delta'))
    good = posing.shown
    assert not posing.ask({'x': 5.0})
    assert posing.shown is good
    assert posing.refusal and '\n' not in posing.refusal
    assert posing.ask({'x': 0.05}) and not posing.refusal


def test_beyond_limits_is_shown_and_named():
    posing = Posing(pd.load_robot('gough_stewart'))
    low, high = posing.ranges['z']
    assert posing.ask({'z': high})
    names = {v.joint for v in posing.shown.violations}
    assert names
    assert all(name in html.beyond_limits(posing.robot, posing.shown) for name in names)
    assert html.BAD in html.actuators(posing.robot, posing.shown)


def test_load_changes_efforts_as_the_library_says():
    robot = pd.load_robot('delta')
    posing = Posing(robot)
    push = np.array([5.0, -2.0, 1.0, 0.0, 0.0, 0.0])
    tilt = np.radians([20.0, -30.0])
    posing.load(payload=1.5, tilt=tilt, wrench=push)
    base = pd.BaseMotion(Rotation.from_euler('xy', tilt).as_matrix())
    expected = robot.with_payload(1.5).inverse_dynamics(robot.home, push, base)
    np.testing.assert_allclose(posing.shown.efforts, expected, rtol=1e-9, atol=1e-9)
    posing.load(payload=0.0, tilt=np.zeros(2), wrench=np.zeros(6))
    np.testing.assert_allclose(posing.shown.efforts, robot.inverse_dynamics(robot.home), atol=1e-9)


def test_handles_turn_only_what_is_free():
    robot = pd.load_robot('three_rps_prismatic')
    turn = Rotation.from_euler('xyz', [0.1, 0.2, 0.3])
    wanted = turned(robot, robot.home, turn.as_quat()[[3, 0, 1, 2]])
    assert set(wanted) == {'roll', 'pitch'}
    stewart = pd.load_robot('gough_stewart')
    wanted = turned(stewart, stewart.home, turn.as_quat()[[3, 0, 1, 2]])
    pose = Posing(stewart).pose({**dict(zip('xyz', stewart.home.position)), **wanted})
    np.testing.assert_allclose(pose.rotation, turn.as_matrix() @ stewart.home.rotation, atol=1e-12)


def test_player_follows_the_clock_and_starts_again():
    robot = pd.load_robot('delta')
    trajectory = trajectories.preset(robot, 'circle', duration=2.0)
    times = trajectory.grid(100.0)
    player = Player(times, trajectory.sample(times))
    player.advance(1.0)
    assert player.time == 0.0
    player.playing, player.speed = True, 2.0
    player.advance(0.25)
    assert player.time == pytest.approx(0.5)
    np.testing.assert_allclose(player.motion().position, trajectory.at(0.5).position, atol=5e-3)
    player.advance(player.duration / 2.0)
    assert player.time == pytest.approx(0.5)


def test_every_shipped_robot_can_be_drawn():
    for name in pd.shipped_robots():
        robot = pd.load_robot(name)
        links = {frame.name for frame in robot.model.frames}
        meshes = link_meshes(robot)
        assert {link for link, _, _ in meshes} <= links
        assert len({tuple(rgba) for _, _, rgba in meshes}) > 1


def test_nice_numbers():
    assert [nice(v) for v in (1.0, 1.9, 2.0, 4.99, 7.0, 0.03)] == [1.0, 1.0, 2.0, 2.0, 5.0, 0.02]


def test_text_of_strangers_is_not_html():
    assert '<b>' not in html.banner('<b>', good=False) + html.facts([('<b>', '<b>')])


# ---------------------------------------------------------------- in a real browser


@pytest.fixture(scope='module')
def shown():
    """Return a page of a Delta and a browser that shows it."""
    robot = pd.load_robot('delta')
    trajectory = trajectories.preset(robot, 'circle', duration=4.0)
    times = trajectory.grid(100.0)
    server = viewer.start_server('delta', port=0)
    stop = threading.Event()
    try:
        page = viewer.Page(server, robot, {'circle': lambda: (times, trajectory.sample(times))})
        thread = threading.Thread(target=page.run, args=(stop,), daemon=True)
        thread.start()
        with page_of.open_page(viewer.address(server)) as browser:
            yield page, browser
    finally:
        stop.set()
        viewer.stop_server(server)


def numbers(text):
    return [float(v) for v in re.findall(r'[-+]?\d+\.\d+', text)]


@pytest.mark.browser
def test_robot_is_visible(shown):
    page, browser = shown
    before = page_of.picture(browser)
    assert len(np.unique(before.reshape(-1, 3), axis=0)) > 100
    page.scene.visible_robot = False
    assert page_of.changed_picture(browser, before, 0.02)
    hidden = page_of.picture(browser)
    page.scene.visible_robot = True
    assert page_of.changed_picture(browser, hidden, 0.02)


@pytest.mark.browser
def test_page_needs_nothing_from_outside(shown):
    _, browser = shown
    browser.run('1')
    here = re.compile(r'(http|ws)://(localhost|127\.0\.0\.1)[:/]|data:|blob:')
    outside = [url for url in browser.requests if not here.match(url)]
    assert browser.requests and not outside
    assert not browser.errors


@pytest.mark.browser
def test_numbers_beside_sliders_are_not_cut_off(shown):
    _, browser = shown
    cut = browser.run(
        '[...document.querySelectorAll("[inputmode=decimal], [inputmode=numeric]")].filter('
        'e => e.offsetParent).map(e => { const was = e.value; e.value = "-0.1234"; '
        'const cut = e.scrollWidth > e.clientWidth; e.value = was; return cut; })'
    )
    assert len(cut) >= 3 and not any(cut)


@pytest.mark.browser
def test_slider_moves_legs_and_numbers(shown):
    page, browser = shown
    before, table = page_of.picture(browser), page_of.part(browser, 'actuators')
    page_of.put_slider(browser, 2, 0.6)  # z
    assert page_of.changed_picture(browser, before, 0.004)
    browser.wait_for(
        f'document.querySelector("[data-part=actuators]").innerText != {table!r}', 'new numbers'
    )
    robot = page.posing.robot

    def said():
        row = next(line for line in page_of.part(browser, 'actuators').splitlines()
                   if robot.actuators[0] in line)  # fmt: skip
        return numbers(row)

    deadline = time.monotonic() + page_of.PATIENCE
    while True:
        expected = robot.inverse_dynamics(page.posing.shown.motion)[0]
        if abs(said()[0] - expected) < 0.06 or time.monotonic() > deadline:
            break
    assert said()[0] == pytest.approx(expected, abs=0.06)
    moved = page.posing.coordinates()['z'] - robot.home.position[2]
    assert abs(moved) > 0.01
    click_home(page, browser)


def click_home(page, browser):
    page_of.click(browser, 'Home')
    deadline = time.monotonic() + page_of.PATIENCE
    while np.abs(page.posing.shown.motion.position - page.posing.robot.home.position).max() > 1e-6:
        assert time.monotonic() < deadline, 'the page did not go home'
        time.sleep(0.05)


@pytest.mark.browser
def test_refused_pose_shows_its_reason_and_the_last_good_pose_stays(shown):
    page, browser = shown
    page_of.put_slider(browser, 0, 0.999)  # x, as far as it goes: beyond reach
    state, text = page_of.wait_for_banner(browser, 'Refused')
    assert state == 'refused' and page.posing.refusal[:40] in text
    assert abs(page.posing.coordinates()['x']) < 1e-9
    click_home(page, browser)
    assert page_of.wait_for_banner(browser, 'slider')[0] == 'fine'


@pytest.mark.browser
def test_handle_drags_the_platform_along_its_axis(shown):
    """The blue arrow of the handle, dragged by the mouse, moves z and nothing else."""
    page, browser = shown
    camera, home = page.server.initial_camera, page.posing.robot.home.position
    tip = home + [0.0, 0.0, 0.36 * page.scene.size]
    start, end = (page_of.place_of(camera, tip + [0.0, 0.0, up]) for up in (0.0, 0.15))
    page_of.drag(browser, start, end)
    deadline = time.monotonic() + page_of.PATIENCE
    while page.posing.coordinates()['z'] < home[2] + 0.05:
        assert time.monotonic() < deadline, 'the platform did not follow the handle'
        time.sleep(0.05)
    np.testing.assert_allclose(page.posing.shown.motion.position[:2], home[:2], atol=1e-9)
    click_home(page, browser)


@pytest.mark.browser
def test_load_and_motion_from_the_page(shown):
    page, browser = shown
    page_of.click(browser, 'Load')
    browser.wait_for('document.body.innerText.includes("payload")', 'the loads')
    page_of.put_slider(browser, 0, 0.3)
    deadline = time.monotonic() + page_of.PATIENCE
    while page.posing.payload == 0.0 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert page.posing.payload > 0.0
    page_of.click(browser, 'Motion')
    page_of.click(browser, 'Play')
    page_of.wait_for_banner(browser, 'Playing')
    before = page_of.picture(browser)
    assert page_of.changed_picture(browser, before, 0.003)
    page_of.click(browser, 'Pause')


# ---------------------------------------------------------------- a running loop

# First and last column of a chart with a pixel that has a colour, as shares of its width.
CURVES = """(() => { const c = document.querySelector(".uplot canvas"); if (!c) return null;
const p = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
const found = [];
for (let x = 0; x < c.width; x++) for (let y = 0; y < c.height; y++) {
  const k = 4 * (y * c.width + x);
  const [a, b] = [Math.min(p[k], p[k+1], p[k+2]), Math.max(p[k], p[k+1], p[k+2])];
  if (p[k+3] > 200 && b - a > 60) { found.push(x / c.width); break; } }
return [found[0], found[found.length - 1]]; })()"""


@pytest.mark.browser
def test_curves_of_a_running_loop_reach_back_in_time():
    pytest.importorskip('viser')
    robot = pd.load_robot('delta')
    server = viewer.start_server(robot.name, '127.0.0.1', 0)
    try:
        page = LivePage(server, robot, history=5.0)
        with page_of.open_page(viewer.address(server)) as browser:
            page_of.click(browser, 'Plots')
            efforts = robot.inverse_dynamics(robot.home)
            for k in range(60):
                page.show(0.1 * k, robot.home, efforts + np.sin(0.3 * k))
            page.write([])
            browser.wait_for(f'{CURVES}?.[0] < 0.3', 'curves that begin at the left')
            assert browser.run(CURVES)[1] > 0.8
    finally:
        viewer.stop_server(server)


# ---------------------------------------------------------------- the command


def test_a_port_in_use_is_one_sentence(command):
    import viser  # noqa: F401  without it another sentence comes first

    with socket.socket() as taken:
        taken.bind(('127.0.0.1', 0))
        taken.listen()
        port = taken.getsockname()[1]
        result = command('view', 'delta', '--port', port, check=False)
    assert result.returncode == 2 and not result.stdout
    assert len(result.stderr.strip().splitlines()) == 1
    assert str(port) in result.stderr and '--port' in result.stderr


@pytest.mark.parametrize(
    'words',
    [
        ('nobody',),
        ('delta', '--motion', 'bad.csv'),
        ('delta', '--port', '70000'),
        ('delta', '--size', 'large'),
        ('delta', '--pose', 'x'),
    ],
)
def test_command_refuses_in_one_sentence(command, tmp_path, words):
    (tmp_path / 'elsewhere' / 'bad.csv').write_text('time,position\n0,1\n1,2\n')
    result = command('view', *words, check=False)
    assert result.returncode == 2 and not result.stdout
    assert len(result.stderr.strip().splitlines()) == 1, result.stderr


@pytest.mark.browser
def test_command_takes_a_picture(command, tmp_path):
    page_of.chromium.find() or pytest.skip('there is no Chromium here')
    path = tmp_path / 'delta.png'
    command('view', 'delta', '--screenshot', path, '--size', '800x600', '--pose', 'x=0.05')
    assert path.read_bytes().startswith(b'\x89PNG')
