"""x"""
from bench.effort import Effort
def report(effort: Effort) -> str:
    return ""
