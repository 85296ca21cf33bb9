"""Events that exist already stay as they are; the chains begin after them."""

from django.db import migrations
from django.db.models import F


def begin_here(apps, schema_editor):
    apps.get_model("evidence", "SessionLog").objects.update(chained_after=F("last_number"))


class Migration(migrations.Migration):
    dependencies = [("evidence", "0002_the_chain_of_session_events")]

    operations = [migrations.RunPython(begin_here, migrations.RunPython.noop)]
