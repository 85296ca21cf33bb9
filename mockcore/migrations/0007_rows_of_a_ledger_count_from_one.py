"""No row of the ledger stands before the first: one numbered 0 would be no part of its chain."""

from django.db import migrations, models


def counted_from_one(model: str) -> migrations.AddConstraint:
    condition = models.Q(number__gte=1)
    return migrations.AddConstraint(
        model, models.CheckConstraint(condition=condition, name=f"{model}_counts_from_one")
    )


class Migration(migrations.Migration):
    dependencies = [("mockcore", "0006_the_operator_moves_the_clock")]

    operations = [
        counted_from_one("auditrecord"),
        counted_from_one("change"),
        counted_from_one("decisionrecord"),
        counted_from_one("idempotencyrecord"),
    ]
