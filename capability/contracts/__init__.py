"""What is written down about the catalog, and the checks that keep it true. Projections only: it decides nothing.

`files` draws the generated files from the registry, `page` the one for people, `drift` says in words how a stored file
differs, `boundary` looks for what must not be in this house, `traceability` ties promises to their proofs. The files
lie in `capability/generated/`; `manage.py generate_semantic_contracts` and `check_capability_contract --write` write
them.
"""
