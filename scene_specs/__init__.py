"""Specs: what images show. The public interface is `diorama`."""
