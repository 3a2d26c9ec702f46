"""Tools for developers: measuring, checking, building. Not part of the installed package."""
