"""Export formats: each public module is one, named after its file; see diorama.render.uses.export."""
