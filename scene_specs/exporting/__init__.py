"""What an export format of a benchmark is made of; diorama.render.export reads the store and writes the files."""
