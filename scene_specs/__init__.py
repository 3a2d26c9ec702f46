"""Specs: what images show. The public interface is `diorama`."""

if __name__ != "diorama.scene_specs":  # found beside `diorama`: its modules would run twice, under two names
    raise ModuleNotFoundError(f"`{__name__}` is now `diorama.scene_specs`; import it by that name", name=__name__)
