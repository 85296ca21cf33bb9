"""A runner reports events of its run and leaves checkpoints to resume from."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models.functions import Concat


class Migration(migrations.Migration):
    dependencies = [("mockcore", "0003_chain_from_the_present_end")]

    operations = [
        migrations.AddField("run", "session_checkpoint", models.TextField(null=True)),
        migrations.CreateModel(
            name="RunEvent",
            fields=[
                ("uid", models.CharField(editable=False, max_length=500, primary_key=True, serialize=False)),
                ("public_id", models.CharField(max_length=240)),
                ("position", models.PositiveBigIntegerField()),
                ("source_instance_id", models.CharField(max_length=160)),
                ("source_event_id", models.CharField(max_length=160)),
                ("source_seq", models.PositiveBigIntegerField()),
                ("event_type", models.CharField(max_length=120)),
                ("body", models.TextField()),
                (
                    "company",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="mockcore.company",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="mockcore.run",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(uid=Concat(models.F("company"), models.Value("/"), models.F("public_id"))),
                        name="runevent_uid_is_its_own",
                    ),
                    models.UniqueConstraint(fields=("company", "position"), name="runevent_position_unique"),
                    models.UniqueConstraint(fields=("run", "source_event_id"), name="runevent_id_unique"),
                    models.UniqueConstraint(
                        fields=("run", "source_instance_id", "source_seq"), name="runevent_number_unique"
                    ),
                    models.CheckConstraint(condition=models.Q(source_seq__gte=1), name="runevent_counts_from_one"),
                ],
            },
        ),
    ]
