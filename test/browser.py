"""What tests do in a page: look at pixels, press buttons, move sliders."""

from __future__ import annotations

import io
import time

import numpy as np
from PIL import Image
import pytest

from parallel_dynamics.viewer import chromium

PATIENCE = 90.0  # s; generous: pixels are drawn by the processor here


def open_page(address, width=860, height=560):
    """Return a browser that shows the page of a viewer; skip where there is no Chromium."""
    if chromium.find() is None:
        pytest.skip('there is no Chromium here; apt install chromium brings one')
    browser = chromium.Chromium(width, height)
    try:
        browser.open(address)
        browser.wait_for('document.querySelector("canvas") && '
                         'document.querySelector("[data-part=actuators]") !== null',
                         'the panel', PATIENCE)  # fmt: skip
        browser.run('document.querySelectorAll(".mantine-Notification-root").forEach('
                    'e => e.remove())')  # fmt: skip
    except BaseException:
        browser.close()
        raise
    return browser


def picture(browser, width=440):
    """Return the pixels of the scene, left of the panel: (height, width, 3)."""
    image = Image.open(io.BytesIO(browser.screenshot())).convert('RGB')
    return np.asarray(image, dtype=int)[:, :width]


def difference(before, after):
    """Return the share of pixels that changed visibly."""
    return float((np.abs(before - after).max(axis=2) > 24).mean())


def changed_picture(browser, before, share, timeout=PATIENCE):
    """Wait until more than a share of the pixels has changed, and return how many."""
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        found = difference(before, picture(browser))
        if found > share:
            return found
        time.sleep(0.2)
    raise AssertionError(f'less than {share} of the pixels changed in {timeout} s')


def press(browser, x, y):
    """Press and release the mouse at a place of the page."""
    for kind in ('mousePressed', 'mouseReleased'):
        browser.call('Input.dispatchMouseEvent', type=kind, x=x, y=y, button='left', clickCount=1)


def click(browser, label):
    """Press the button, or open the tab, with a label."""
    place = browser.wait_for(
        '(() => { const e = [...document.querySelectorAll("button, [role=tab]")].find('
        f'e => e.innerText.trim() == "{label}" && e.offsetParent !== null); '
        'if (!e) return null; e.scrollIntoView({block: "center"}); '
        'const r = e.getBoundingClientRect(); '
        'return [r.left + r.width / 2, r.top + r.height / 2]; })()', f'a button {label}',
    )  # fmt: skip
    press(browser, *place)


def place_of(camera, point, width=860, height=560):
    """Return where a point (3,), in the world, is on the page: pixels from its upper left."""
    eye, target = np.array(camera.position), np.array(camera.look_at)
    ahead = (target - eye) / np.linalg.norm(target - eye)
    right = np.cross(ahead, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    ray = np.asarray(point) - eye
    scale = 0.5 * height / np.tan(0.5 * camera.fov) / (ray @ ahead)
    return (0.5 * width + scale * (ray @ right),
            0.5 * height - scale * (ray @ np.cross(right, ahead)))  # fmt: skip


def drag(browser, start, end, steps=6):
    """Drag the mouse from one place to another, as a hand does."""

    def mouse(kind, place, held):
        browser.call('Input.dispatchMouseEvent', type=kind, x=float(place[0]), y=float(place[1]),
                     button='left' if held or kind == 'mouseReleased' else 'none',
                     buttons=int(held), clickCount=1)  # fmt: skip
        browser.screenshot()  # a picture later the page has taken notice

    mouse('mouseMoved', start, False)
    mouse('mousePressed', start, True)
    for share in np.linspace(0.0, 1.0, steps + 1)[1:]:
        mouse('mouseMoved', np.array(start) + share * (np.array(end) - start), True)
    mouse('mouseReleased', end, False)


def ask(browser, label):
    """Press a button of a running loop; return whether it was done, and what was answered."""
    script = 'Number(document.querySelector("[data-part=answers]").dataset.count)'
    before = browser.run(script)
    click(browser, label)
    good, text = browser.wait_for(
        f'{script} > {before} && (() => {{ const e = document.querySelector('
        '"[data-part=answers] [data-good]"); return [e.dataset.good, e.innerText]; })()',
        f'an answer to {label}', PATIENCE,
    )  # fmt: skip
    return good == 'true', text


def put_slider(browser, number, share):
    """Click on the rail of a slider that can be seen: 0 is its left end, 1 its right end."""
    x, y, width = browser.run(
        '(() => { const e = [...document.querySelectorAll("[role=slider]")].filter('
        f'e => e.offsetParent !== null)[{number}]; e.scrollIntoView({{block: "center"}}); '
        'const r = e.parentElement.getBoundingClientRect(); '
        'return [r.left, r.top + r.height / 2, r.width]; })()'
    )
    press(browser, x + share * width, y)


def banner(browser):
    """Return state ('fine' or 'refused') and text of the line at the top."""
    return tuple(browser.run('(() => { const e = document.querySelector("[data-state]"); '
                             'return [e.dataset.state, e.innerText]; })()'))  # fmt: skip


def wait_for_banner(browser, words, timeout=PATIENCE):
    """Wait until the line at the top contains some words; return it."""
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        state, text = banner(browser)
        if words in text:
            return state, text
        time.sleep(0.1)
    raise AssertionError(f'{words!r} did not come within {timeout} s; the page says {text!r}')


def part(browser, name):
    """Return the text of a part of the panel."""
    return browser.run(f'document.querySelector("[data-part={name}]").innerText')
