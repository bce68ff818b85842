"""How numbers, times and states are written for people: one form on pages, on the command line and in answers.

Pure standard library, imports nothing of the service: every command loads it at start.
"""
