"""Files and folders for output."""
