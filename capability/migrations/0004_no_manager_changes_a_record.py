"""The manager that only adds and reads is the one that Django itself uses as well. No column changes."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("capability", "0003_chain_from_the_present_end")]

    operations = [
        migrations.AlterModelOptions(
            "authorizationrecord", {"base_manager_name": "objects", "ordering": ["company_id", "number"]}
        )
    ]
