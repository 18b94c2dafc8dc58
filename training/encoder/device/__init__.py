"""Training on a machine with an accelerator that has nothing but torch: a folder goes there, weights and held-out scores come back."""
