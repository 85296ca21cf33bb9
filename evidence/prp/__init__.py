"""The PRP v1 vocabulary: what an event is called and what its envelope holds. No database, no Django."""
