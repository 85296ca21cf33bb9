"""Views of the record: pure, events in, named fields out. A field that is not named here cannot leave."""
