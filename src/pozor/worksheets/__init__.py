"""Worksheets of attention that can be done on paper, their answer keys, and the marking of typed answers."""

from pozor.worksheets.marking import Marks, mark
from pozor.worksheets.records import records
from pozor.worksheets.sheet import Sheet, draw

__all__ = ["Marks", "Sheet", "draw", "mark", "records"]
