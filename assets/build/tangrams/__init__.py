"""Build our tangrams and their descriptions: see __main__."""
