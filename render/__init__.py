"""From specs to annotated images and datasets. The public interface is `diorama`."""

__version__ = "0.3.0.dev0"
