"""One row or cell of attention, worked out by hand: records, and four renderers."""

from pozor.working.front import Working, by_hand

__all__ = ["Working", "by_hand"]
