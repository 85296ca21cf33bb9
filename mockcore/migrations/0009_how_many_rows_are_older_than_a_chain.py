"""A company whose chains begin behind rows of its own knows how many those are, so that none can be added to them."""

import json

from django.db import migrations

MODELS = {
    "revisions": "StateRevision",
    "changes": "Change",
    "audit": "AuditRecord",
    "decisions": "DecisionRecord",
    "idempotency": "IdempotencyRecord",
}


def count_older(apps, schema_editor):
    company_model = apps.get_model("mockcore", "Company")
    for company in company_model.objects.filter(parent=None).iterator():
        chains = json.loads(company.chains)
        for name, end in chains.items():
            before = {"company_id": company.pk, "number__lte": end.get("after", 0), "hash": ""}
            if older := apps.get_model("mockcore", MODELS[name]).objects.filter(**before).count():
                end["older"] = older
        text = json.dumps(chains, sort_keys=True, separators=(",", ":"))
        company_model.objects.filter(pk=company.pk).update(chains=text)


class Migration(migrations.Migration):
    dependencies = [("mockcore", "0008_no_manager_changes_the_ledger")]

    operations = [migrations.RunPython(count_older, migrations.RunPython.noop)]
