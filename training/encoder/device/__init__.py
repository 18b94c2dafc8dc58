"""Training on a machine with an accelerator and little else: a folder goes there, weights and held-out scores come back."""
