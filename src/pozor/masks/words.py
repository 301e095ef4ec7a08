"""A mask in words, as a recording words it: "causal & window (511, 0)"."""

from pozor.masks.objects import Causal, Documents, Mask, Or, Padding, Prefix, Sinks, Window

OWN = "own mask"  # what has no short name


def words(term: Mask) -> str:
    """One mask object in words.

    Example:
        >>> words(Causal() | Prefix(2)), words(Window(1, None)), words(Causal() | Sinks(4))
        ('causal | prefix 2', 'window (1, open)', 'own mask')
    """
    if isinstance(term, Causal):
        return "causal"
    if isinstance(term, Window):
        left, right = ("open" if side is None else side for side in (term.left, term.right))
        return f"window ({left}, {right})"
    if isinstance(term, Prefix) and not isinstance(term, Sinks) and term.n.size == 1:
        return f"prefix {int(term.n.flat[0])}"
    if isinstance(term, Padding):
        return "key padding"
    if isinstance(term, Or):
        parts = [words(part) for part in term.parts]
        return OWN if OWN in parts else " | ".join(parts)
    return "own documents" if isinstance(term, Documents) else OWN
