"""The passes that a frame can request: one public file each, named after the pass. See `_rows.PassRow`."""
