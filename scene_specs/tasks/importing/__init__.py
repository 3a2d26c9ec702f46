"""Scenes in the form of CLEVR's published files, which MEWL has too: objects, relations, recovered cameras."""
