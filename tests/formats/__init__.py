"""Tests of the text form of numbers, times and states."""
