"""The smoke run: the clean room driven over its public routes, as a browser would, and judged by named assertions."""
