"""KiloGram: tangrams, their descriptions by parts, and reference games (Ji et al., EMNLP 2022)."""
