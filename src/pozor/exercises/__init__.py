"""Exercises that know what went wrong: data, a checker that names the usual mistakes, hints, solutions."""

from pozor.exercises.bank import catalog, get
from pozor.exercises.drawing import Drawn, Exercise, Verdict
from pozor.exercises.messages import Lock, serve

__all__ = ["Drawn", "Exercise", "Lock", "Verdict", "catalog", "get", "serve"]
