"""Exercises of the lesson."""

from collections.abc import Callable

from pozor.exercises.drawing import Built

EXERCISES: tuple[tuple[str, str, Callable[..., Built]], ...] = ()
