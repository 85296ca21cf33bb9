"""After every mutation the company asks which of its open questions have expired."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("mockcore", "0004_events_and_checkpoints_of_a_run")]

    operations = [
        migrations.AddIndex("interaction", models.Index(fields=["company", "status"], name="interaction_by_status")),
    ]
