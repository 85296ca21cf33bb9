"""The rehearsal model: a loopback model server that follows plain rules, so the whole path works without an account.

It is not a language model and says so. It sees what any model sees (one Responses-API request: the conversation and the
tools) and keeps nothing between requests. It is chosen by `make demo` and by tests only, never as a fallback. It knows
neither Django nor any other house. Source: design section 8.
"""

MODEL_NAME = "rehearsal"  # what Codex is told to ask for, and what the evidence records
MODEL_LABEL = "Rehearsal model (rules, not a language model)"  # what the header shows
