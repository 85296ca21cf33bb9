"""The hash of each session event, and the head of a log's chain beside its count."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evidence", "0001_session_log")]

    operations = [
        migrations.AddField("sessionlog", "head", models.CharField(blank=True, max_length=64, default="")),
        migrations.AddField("sessionlog", "chained_after", models.PositiveBigIntegerField(default=0)),
        migrations.AddField(
            "sessionevent", "hash", models.CharField(max_length=64, default=""), preserve_default=False
        ),
    ]
