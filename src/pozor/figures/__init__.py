"""The map as a picture on paper (`figure`), and its cells as numbers in a file (`export`)."""

from pozor.figures.front import figure
from pozor.figures.numbers import export

__all__ = ["export", "figure"]
