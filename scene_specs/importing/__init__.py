"""Published scene files of other projects, as specs that give everything the files give."""
