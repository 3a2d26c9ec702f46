"""From specs to annotated images and datasets. The public interface is `diorama`."""

__version__ = "0.1.0"

if __name__ != "diorama.render":  # found beside `diorama`: its modules would run twice, under two names
    raise ModuleNotFoundError(f"`{__name__}` is now `diorama.render`; import it by that name", name=__name__)
