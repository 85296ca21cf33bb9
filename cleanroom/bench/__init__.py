"""The benchmarks of design section 11: what the clean room costs beside raw Codex, as ratios."""
