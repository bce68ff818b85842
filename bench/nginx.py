"""nginx with one file: what a server in C does when there is nothing to decide."""

import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.bare import BODY
from bench.serving import HOST, PATH, Contender, request, serving

NAME = "nginx, a static file"
_CONFIG = """
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
{user}
events {{ worker_connections 1024; }}
http {{
    access_log off;
    keepalive_requests 1000000000;
    sendfile on;
    tcp_nopush on;
    default_type application/json;
    open_file_cache max=10 inactive=1h;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{ listen {host}:{port}; root {folder}/root; }}
}}
"""


def missing() -> str | None:
    """Why it cannot be measured; None where it can."""
    return None if find() else "nginx is not installed (Debian: `apt install nginx-light`)"


def find() -> str | None:
    """The executable, also where `/usr/sbin` is not in the path."""
    return shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")


@contextmanager
def nginx(folder: Path) -> Iterator[Contender]:
    """Start it with a file of as many bytes as the bare server sends, at the path that is asked for."""
    home, program = folder / "nginx", find()
    assert program is not None
    file = home / "root" / PATH.strip("/")
    file.parent.mkdir(parents=True)
    file.write_bytes(BODY)
    config = home / "nginx.conf"
    user = "user root;" if os.geteuid() == 0 else ""
    with socket.create_server((HOST, 0), backlog=511) as listener:
        port = listener.getsockname()[1]
        config.write_text(_CONFIG.format(folder=home, host=HOST, port=port, user=user))
        environ = {"NGINX": f"{listener.fileno()};"}  # it takes over this socket, as it does when it is upgraded
        arguments = ["-p", str(home), "-e", str(home / "error.log"), "-c", str(config)]
        with serving(arguments, environ, Path(program), listener):
            yield Contender(NAME, port, request("x"))
