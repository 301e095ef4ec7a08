"""The drop-in for torch: SDPA by its own signature, a custom operator, the attention `pozor` of transformers.

Importing this module registers `torch.ops.pozor.attention`, and the name `pozor` with transformers where that
is installed (when transformers is first used; nothing is imported for it).
"""

from pozor.torch.operator import attention
from pozor.torch.sdpa import replace_sdpa, scaled_dot_product_attention
from pozor.torch.transformers import register_when_used

__all__ = ["attention", "replace_sdpa", "scaled_dot_product_attention"]

register_when_used()
