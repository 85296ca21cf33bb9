"""The network guard counts what really leaves the machine."""

from __future__ import annotations

import pytest

from cleanroom.guard import leaves_the_machine


@pytest.mark.requirement("guard.measured")
@pytest.mark.parametrize(
    ("address", "leaves"),
    [
        (("127.0.0.1", 80), False),
        (("127.8.9.1", 80), False),
        (("::1", 80, 0, 0), False),
        (("::ffff:127.0.0.1", 80, 0, 0), False),
        (("localhost", 80), False),
        ("/run/some.socket", False),
        (b"\0abstract", False),
        (("192.0.2.7", 443), True),
        (("2001:db8::1", 443, 0, 0), True),
        (("::ffff:192.0.2.7", 443, 0, 0), True),
        (("paperclip.example.test", 443), True),
    ],
)
def test_only_addresses_beyond_this_machine_count(address: object, leaves: bool) -> None:
    assert leaves_the_machine(address) is leaves
