"""A headless Chromium, driven through its DevTools protocol: pictures of a page.

https://chromedevtools.github.io/devtools-protocol
"""

from __future__ import annotations

import base64
import contextlib
import itertools
import json
import os
from pathlib import Path
import shutil
import signal
import subprocess
import tempfile
import time
from types import TracebackType
from typing import Any
from urllib.request import urlopen

from parallel_dynamics.errors import ParallelDynamicsError

NAMES = ('chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable')
FLAGS = (
    '--headless', '--no-sandbox', '--disable-gpu', '--use-gl=angle', '--use-angle=swiftshader',
    '--enable-unsafe-swiftshader', '--disable-background-networking',
    '--disable-component-update', '--disable-sync', '--no-first-run', '--disable-quic',
    '--disable-dev-shm-usage', '--hide-scrollbars', '--remote-debugging-port=0',
)  # fmt: skip
PATIENCE = 60.0
"""Seconds until a browser that does not answer is given up."""


def find() -> str | None:
    """Return the path of a Chromium, or None."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Chromium:
    """A browser with one page; use it in a ``with`` statement, so that it always ends."""

    def __init__(self, width: int = 1600, height: int = 900) -> None:
        program = find()
        if program is None:
            raise ParallelDynamicsError(
                f'no Chromium was found (looked for {", ".join(NAMES)}); install it, on Debian '
                'and Ubuntu with: apt install chromium'
            )
        self._folder = tempfile.mkdtemp(prefix='parallel_dynamics-')
        self._process = subprocess.Popen(
            [program, *FLAGS, f'--window-size={width},{height}',
             f'--user-data-dir={self._folder}', 'about:blank'],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        self._numbers = itertools.count(1)
        self.requests: list[str] = []
        self.errors: list[str] = []
        try:
            self._socket = self._connect()
            for domain in ('Page', 'Network', 'Runtime'):
                self.call(f'{domain}.enable')
            self.call('Emulation.setDeviceMetricsOverride', width=width, height=height,
                      deviceScaleFactor=1, mobile=False)  # fmt: skip
        except BaseException:
            self.close()
            raise

    def _connect(self) -> Any:
        from websockets.sync.client import connect

        note = Path(self._folder) / 'DevToolsActivePort'
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and self._process.poll() is None:
            with contextlib.suppress(OSError, ValueError, IndexError):
                port = int(note.read_text().splitlines()[0])
                with urlopen(f'http://127.0.0.1:{port}/json', timeout=5.0) as answer:
                    pages = [p for p in json.load(answer) if p['type'] == 'page']
                return connect(pages[0]['webSocketDebuggerUrl'], max_size=None)
            time.sleep(0.05)
        raise ParallelDynamicsError('Chromium did not start; does it run from a terminal?')

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol and return its result; events on the way are kept."""
        number = next(self._numbers)
        self._socket.send(json.dumps({'id': number, 'method': method, 'params': parameters}))
        while True:
            message = json.loads(self._socket.recv(timeout=PATIENCE))
            self._note(message)
            if message.get('id') == number:
                if 'error' in message:
                    raise ParallelDynamicsError(f'Chromium: {method}: {message["error"]}')
                result: dict[str, Any] = message['result']
                return result

    def _note(self, message: dict[str, Any]) -> None:
        method, details = message.get('method'), message.get('params', {})
        if method == 'Network.requestWillBeSent':
            self.requests.append(details['request']['url'])
        elif method == 'Network.webSocketCreated':
            self.requests.append(details['url'])
        elif method == 'Runtime.exceptionThrown':
            self.errors.append(json.dumps(details['exceptionDetails'])[:2000])

    def open(self, address: str) -> None:
        """Go to a page."""
        self.call('Page.navigate', url=address)

    def run(self, script: str) -> Any:
        """Return the value of a JavaScript expression."""
        result = self.call('Runtime.evaluate', expression=script, returnByValue=True)
        return result['result'].get('value')

    def text(self) -> str:
        """Return the visible text of the page."""
        return str(self.run('document.body ? document.body.innerText : ""'))

    def wait_for(self, script: str, what: str, timeout: float = PATIENCE) -> Any:
        """Wait until a JavaScript expression is true, and return its value."""
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            value = self.run(script)
            if value:
                return value
            time.sleep(0.1)
        raise ParallelDynamicsError(f'the page did not show {what} within {timeout:g} s')

    def screenshot(self) -> bytes:
        """Return a picture of the page, PNG."""
        return base64.b64decode(self.call('Page.captureScreenshot', format='png')['data'])

    def close(self) -> None:
        """End the browser and all of its processes."""
        with contextlib.suppress(AttributeError, OSError):
            self._socket.close()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Chromium:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def take_picture(address: str, width: int, height: int, settle: float = 3.0) -> bytes:
    """Return a PNG of a viewer's page once its panel is there and the robot is drawn."""
    with Chromium(width, height) as browser:
        browser.open(address)
        browser.wait_for(
            'document.querySelector("canvas") && document.querySelector("[data-part]") !== null',
            'the robot',
        )
        time.sleep(settle)
        # A browser without a graphics card says so over the picture.
        browser.run('document.querySelectorAll(".mantine-Notification-root").forEach('
                    'e => e.remove())')  # fmt: skip
        return browser.screenshot()
