"""Files: strict JSON, files of strangers, and writing that leaves no half file."""
