"""Meshes, stages, materials and models, each listed in manifest.json."""

if __name__ != "diorama.assets":  # found beside `diorama`: its modules would run twice, under two names
    raise ModuleNotFoundError(f"`{__name__}` is now `diorama.assets`; import it by that name", name=__name__)
