"""A revision may be the operator's: moving the company's clock."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("mockcore", "0005_what_waits_in_a_company")]

    operations = [
        migrations.RemoveConstraint("staterevision", "staterevision_principal_known"),
        migrations.AddConstraint(
            "staterevision",
            models.CheckConstraint(
                condition=models.Q(principal__in=["run", "board", "operator"]), name="staterevision_principal_known"
            ),
        ),
    ]
