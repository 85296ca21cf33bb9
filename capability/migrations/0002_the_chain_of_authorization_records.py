"""The hash of each authorization record, and the head of a company's chain beside its count."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("capability", "0001_authorization_records")]

    operations = [
        migrations.AddField("authorizationcounter", "head", models.CharField(max_length=64, default="")),
        migrations.AddField("authorizationcounter", "chained_after", models.PositiveBigIntegerField(default=0)),
        migrations.AddField(
            "authorizationrecord", "hash", models.CharField(max_length=64, default=""), preserve_default=False
        ),
    ]
