"""Recordings: the folder NAME.pozor, its writer and its reader. Knows nothing of models."""

from pozor.recording.document import FIDELITY_BOUNDS, Layer, Rows
from pozor.recording.mask_form import MaskForm
from pozor.recording.reader import Recording, open
from pozor.recording.tokens import Tokens
from pozor.recording.writer import Writer, write

__all__ = ["FIDELITY_BOUNDS", "Layer", "MaskForm", "Recording", "Rows", "Tokens", "Writer", "open", "write"]
