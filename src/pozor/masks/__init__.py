"""Masks: the objects a caller combines, and `Visibility`, what the backends ask."""

from pozor.masks.objects import Causal, Documents, Grid, Mask, Padding, Prefix, Sinks, Window
from pozor.masks.ranges import MAX_RANGES, Ranges
from pozor.masks.visibility import Visibility

__all__ = [
    "MAX_RANGES",
    "Causal",
    "Documents",
    "Grid",
    "Mask",
    "Padding",
    "Prefix",
    "Ranges",
    "Sinks",
    "Visibility",
    "Window",
]
