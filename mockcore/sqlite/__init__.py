"""Django database backend `mockcore.sqlite`: SQLite with one fair writer per process."""
