"""Words that a class need not read from a machine that does not know what it writes.

A stem counts at the start of a word; what stands in the reader's own text is left alone.
"""

import re

_STEMS = (
    r"ho?vn|hov[aě]d|prdel|zaprd|prd[ěeniuy]|kurv|děvk|čubk|šlapk|cour[ayou]|sra[tčnlc]|sere|seru|serou|posr|nasr|vysr|"
    r"usr[aá]|zasr|hajzl|svin(?![ko])|prase(?:ct|č)|chcan|chcá|chc[ií]p|zmrd|mrd|píč|kokot|čur[aá]|debil|kret[eé]n|"
    r"idiot|blb|vůl\b|vole\b|hub[ay]\b|držhub|pitom|mrch|potvor|parchant|bordel|běhn|kund|šuk|žid(?!l)|cikán|"
    r"negr|mrzák|svolo[čt]"
)
_RUDE = re.compile(rf"\b(?:{_STEMS})", re.IGNORECASE)


def rude(text: str, given: int = 0) -> bool:
    """Whether a rude word stands in `text` and reaches beyond its first `given` characters.

    Example:
        >>> rude("Ty debile"), rude("Ty debile", 9), rude("židle")
        (True, False, False)
    """
    near = max(0, given - 40)  # no stem is longer, so earlier characters cannot matter
    return any(match.end() > given for match in _RUDE.finditer(text, near))
