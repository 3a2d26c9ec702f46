"""MEWL (few-shot word learning, ICML 2023): nine tasks, each episode verified to be solvable. See docs/mewl.md."""
