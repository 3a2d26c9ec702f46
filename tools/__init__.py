"""For developers of Diorama: measuring, checking, building. Not part of the installed package."""
