"""describe: features of pages and of whole recordings, from what could be seen at a time."""
