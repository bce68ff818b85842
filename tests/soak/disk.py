"""A file system of its own on a loop device, whose power can be cut.

The cut is the `shutdown` request of ext4 (what xfstests call `godown`) with `NOLOGFLUSH`: from that instant nothing
reaches the device any more, neither data nor journal, and whoever asks for a sync is told EIO. What had not been synced
is gone with the mount, as it is with the power; the next mount replays the journal, as after a power cut.
"""

import fcntl
import os
import shutil
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

_SHUTDOWN: Final = 0x8004587D
_NO_LOG_FLUSH: Final = struct.pack("I", 2)

needs_disks = pytest.mark.skipif(
    os.geteuid() != 0 or not Path("/dev/loop-control").exists() or shutil.which("mkfs.ext4") is None,
    reason="file systems can be made by root only, where there are loop devices and mkfs.ext4",
)


class Disk:
    """A mounted file system.

    Args:
        folder: Where its image and its mount point go.
        mebibytes: How large it is; its image takes what is written to it only.

    Attributes:
        at: Where it is mounted.
    """

    def __init__(self, folder: Path, mebibytes: int) -> None:
        self._image = folder / "image"
        self.at = folder / "disk"
        self.at.mkdir(parents=True)
        with self._image.open("wb") as image:
            image.truncate(mebibytes << 20)
        run("mkfs.ext4", "-q", "-F", str(self._image))

    def mount(self) -> None:
        """Bring it up, as the machine does at its start."""
        run("mount", "-o", "loop,errors=remount-ro", str(self._image), str(self.at))

    def unmount(self) -> None:
        """Let go of it. Whoever has files open there must have ended."""
        run("umount", str(self.at))

    def cut(self) -> None:
        """Cut its power."""
        descriptor = os.open(self.at, os.O_RDONLY)
        try:
            fcntl.ioctl(descriptor, _SHUTDOWN, _NO_LOG_FLUSH)
        finally:
            os.close(descriptor)

    def fail(self) -> None:
        """Have it meet an error of its own, at which ext4 makes it read-only."""
        device = run("findmnt", "-n", "-o", "SOURCE", str(self.at)).strip().rpartition("/")[2]
        Path(f"/sys/fs/ext4/{device}/trigger_fs_error").write_text("injected")

    def repair(self) -> None:
        """What an operator does then."""
        self.unmount()
        subprocess.run(["e2fsck", "-p", "-f", str(self._image)], capture_output=True, check=False)  # 1: repaired
        self.mount()


def run(*command: str) -> str:
    """Run a command of the machine to its end; what it says."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, (command, done.stderr)
    return done.stdout


@contextmanager
def disk(folder: Path, mebibytes: int = 1_024) -> Iterator[Disk]:
    """A disk, mounted when given."""
    made = Disk(folder, mebibytes)
    made.mount()
    try:
        yield made
    finally:
        subprocess.run(["umount", "-l", str(made.at)], capture_output=True, check=False)
