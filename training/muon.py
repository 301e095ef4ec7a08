"""Muon in float32, matrices of one shape at once: torch.optim.Muon rounds to bfloat16, slow on many CPUs."""

import torch


class Muon(torch.optim.Optimizer):
    """Momentum whose matrix is brought near the closest orthogonal one, with decay apart from it.

    The step has a root mean square of 0.2 · lr, about that of AdamW, so that both can share a learning rate.

    Source: Jordan et al. 2024, Muon; the factor: Liu et al. 2025, Muon is scalable for LLM training.
    """

    def __init__(self, params, lr: float, momentum: float = 0.95, weight_decay: float = 0.0):
        super().__init__(params, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure=None):
        """One step over all matrices."""
        for group in self.param_groups:
            by_shape: dict[tuple[int, ...], list[torch.Tensor]] = {}
            for weight in group["params"]:
                by_shape.setdefault(tuple(weight.shape), []).append(weight)
            for (rows, columns), weights in by_shape.items():
                updates = []
                for weight in weights:
                    held = self.state[weight].setdefault("momentum", torch.zeros_like(weight))
                    held.lerp_(weight.grad, 1 - group["momentum"])
                    updates.append(weight.grad.lerp(held, group["momentum"]))
                turned = orthogonal(torch.stack(updates)) * (0.2 * max(rows, columns) ** 0.5)
                for weight, update in zip(weights, turned):
                    weight.mul_(1 - group["lr"] * group["weight_decay"]).sub_(update, alpha=group["lr"])


def orthogonal(x: torch.Tensor, steps: int = 5) -> torch.Tensor:
    """Newton-Schulz: matrices (n, rows, columns) with their singular values brought near 1."""
    tall = x.shape[1] > x.shape[2]
    x = x.transpose(1, 2) if tall else x
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(steps):
        square = x @ x.transpose(1, 2)
        x = 3.4445 * x + (-4.7750 * square + 2.0315 * square @ square) @ x
    return x.transpose(1, 2) if tall else x
