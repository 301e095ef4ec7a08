"""The attention matrix as a map: cells, rows, tiles and summaries, worked out when somebody looks."""

from pozor.matrix.derived import Derived, difference, largest, mean
from pozor.matrix.map import AttentionMap
from pozor.matrix.tiles import Tile

__all__ = ["AttentionMap", "Derived", "Tile", "difference", "largest", "mean"]
