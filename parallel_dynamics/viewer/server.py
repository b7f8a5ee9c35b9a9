"""A page on this machine: viser's server with a look of its own and no outside address."""

from __future__ import annotations

import contextlib
import io
import socket
from typing import Any

from parallel_dynamics.errors import InputError, ParallelDynamicsError

HOST, PORT = '127.0.0.1', 8080
BLUE = (26, 82, 153)
STYLE = '<style>.mantine-NumberInput-root[style*="width: 3rem"]{width:4.2rem!important}</style>'
"""Room beside a slider for a sign and four decimals; viser's own cuts them off."""


def require_viser() -> Any:
    """Return the module viser, or say how to get it."""
    try:
        import viser
        import yourdfpy  # noqa: F401
    except ImportError as error:
        raise ParallelDynamicsError(
            f'the viewer needs the Python package {error.name}, which is not installed; '
            "pip install 'parallel_dynamics[view]' brings it"
        ) from None
    return viser


def start_server(title: str, host: str = HOST, port: int = PORT) -> Any:
    """Start a viser server; port 0 takes any that is free.

    Raises
    ------
    InputError
        If the address cannot be listened on; viser itself would take another port silently.
    """
    viser = require_viser()
    _check_address(host, port)
    with contextlib.redirect_stdout(io.StringIO()):  # it prints a frame around its address
        server = viser.ViserServer(host=host, port=port, label=title, verbose=False)
    if port and server.get_port() != port:
        stop_server(server)
        raise _taken(host, port, 'somebody took it just now')
    server.gui.configure_theme(
        control_width='large', show_logo=False, show_share_button=False, brand_color=BLUE
    )
    server.gui.add_html(STYLE)
    # The ready-made environments would be fetched from elsewhere.
    server.scene.configure_environment_map(None)
    return server


def _check_address(host: str, port: int) -> None:
    if not 0 <= port <= 65535:
        raise InputError(f'port: expected a number from 0 to 65535, got {port}')
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise _taken(host, port, error.strerror or str(error)) from None


def _taken(host: str, port: int, reason: str) -> InputError:
    return InputError(
        f'port: cannot listen on {host}:{port} ({reason}); give another one with --port, or 0 for '
        'any that is free'
    )


def stop_server(server: Any) -> None:
    """End a server without a word."""
    with contextlib.redirect_stdout(io.StringIO()):
        server.stop()


def address(server: Any) -> str:
    """Return the address to open in a browser."""
    host = server.get_host()
    return f'http://{"localhost" if host in ("0.0.0.0", HOST) else host}:{server.get_port()}'
