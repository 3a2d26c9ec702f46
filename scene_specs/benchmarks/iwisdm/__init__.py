"""iWISDM (Lei, Gomez, Bai and Bashivan, CoLLAs 2024): tasks as graphs of operators over frames. See docs/iwisdm.md."""
