"""What `verdict doctor` says of one thing that it looked at."""

from msgspec import Struct


class Check(Struct, frozen=True):
    """One thing that was looked at: what was found (empty where all is well) and what to do about it."""

    check: str
    said: str
    findings: list[str] = []
    remedy: str | None = None


def judge(check: str, said: str, findings: list[str], remedy: str) -> Check:
    """Write a check down; the remedy is told only where there is something to mend."""
    return Check(check, said, findings, remedy if findings else None)
