"""The semantic conformance kit: the same eleven vectors against two or more control planes behind the one port.

Whoever puts a control plane behind `mockcore.port.ControlPlanePort` writes an `Adapter` (how to open a world on it) and
runs `kit.run`. Observations must be canonically equal; a `ConformanceMismatch` names the vector and where the fault
most likely lies. `vectors` holds the worlds and what is right in them, `observation` what is looked at.
"""
