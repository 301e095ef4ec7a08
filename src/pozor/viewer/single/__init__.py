"""`to_html`: heads of a map or a recording as one file that shows and computes them without a network."""

from pozor.viewer.single.write import map_to_html, recording_to_html

__all__ = ["map_to_html", "recording_to_html"]
