"""Companies that exist already keep their rows; history and chains begin where they stand now.

Their change sets lack what rebuilding needs (the place of an entity), so nothing before is opened or proved.
"""

import json

from django.db import migrations
from django.db.models import F


def begin_here(apps, schema_editor):
    company_model = apps.get_model("mockcore", "Company")
    for company in company_model.objects.iterator():
        counts = {
            "revisions": company.revision,
            "audit": company.revision,
            "decisions": company.decision_count,
            "changes": number(apps.get_model("mockcore", "Change"), company),
            "idempotency": number(apps.get_model("mockcore", "IdempotencyRecord"), company),
        }
        chains = {name: {"after": count, "count": count} for name, count in counts.items()}
        text = json.dumps(chains, sort_keys=True, separators=(",", ":"))
        company_model.objects.filter(pk=company.pk).update(chains=text, base_revision=F("revision"))
    records = apps.get_model("mockcore", "IdempotencyRecord")
    for record in records.objects.iterator():
        records.objects.filter(pk=record.pk).update(revision=json.loads(record.result)["stateRevision"])


def number(model, company):
    """Number a company's rows in order of their keys; returns how many there are."""
    keys = list(model.objects.filter(company_id=company.pk).order_by("pk").values_list("pk", flat=True))
    for count, key in enumerate(keys, start=1):
        model.objects.filter(pk=key).update(number=count)
    return len(keys)


class Migration(migrations.Migration):
    dependencies = [("mockcore", "0002_histories_and_chains")]

    operations = [migrations.RunPython(begin_here, migrations.RunPython.noop)]
