"""What reports are made of: tables, differences, a test of frequencies, previews."""
