"""MEWL (few-shot word learning, ICML 2023): nine tasks, each episode proved solvable. See docs/mewl.md."""
