"""Tools that measure time, memory, GPUs and looks, and what failures cost."""
