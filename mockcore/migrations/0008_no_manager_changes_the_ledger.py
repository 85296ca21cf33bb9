"""The manager that only adds and reads is the one that Django itself uses as well. No column changes."""

from django.db import migrations

LEDGER = ("staterevision", "change", "auditrecord", "decisionrecord", "idempotencyrecord")


class Migration(migrations.Migration):
    dependencies = [("mockcore", "0007_rows_of_a_ledger_count_from_one")]

    operations = [migrations.AlterModelOptions(model, {"base_manager_name": "objects"}) for model in LEDGER]
