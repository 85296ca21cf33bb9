"""Records that exist already stay as they are; the chains begin after them."""

from django.db import migrations
from django.db.models import F


def begin_here(apps, schema_editor):
    apps.get_model("capability", "AuthorizationCounter").objects.update(chained_after=F("last_number"))


class Migration(migrations.Migration):
    dependencies = [("capability", "0002_the_chain_of_authorization_records")]

    operations = [migrations.RunPython(begin_here, migrations.RunPython.noop)]
