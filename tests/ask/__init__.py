"""Tests of questions and answers."""
