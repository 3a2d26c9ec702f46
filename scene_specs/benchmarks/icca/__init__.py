"""ICCA (Hua and Artzi, COLM 2024): repeated reference games, over contexts that are rendered. See docs/icca.md."""
