"""Keyframes, the beginning of a kept history, a company's parent, and the columns of the ledger's hash chains."""

import django.db.models.deletion
from django.db import migrations, models


def hashed(model: str) -> migrations.AddField:
    return migrations.AddField(model, "hash", models.CharField(max_length=64, default=""), preserve_default=False)


def counted(model: str, name: str) -> migrations.AddField:
    return migrations.AddField(model, name, models.PositiveBigIntegerField(default=0), preserve_default=False)


class Migration(migrations.Migration):
    dependencies = [("mockcore", "0001_the_mock_company_and_its_ledger")]

    operations = [
        migrations.AddField(
            "company",
            "parent",
            models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="mockcore.company"
            ),
        ),
        migrations.AddField("company", "base_revision", models.PositiveBigIntegerField(default=0)),
        migrations.AddField("company", "base", models.TextField(null=True)),
        migrations.AddField("company", "chains", models.TextField(default=dict)),
        migrations.AddConstraint(
            "company",
            models.CheckConstraint(
                condition=models.Q(("revision__gte", models.F("base_revision"))),
                name="company_history_has_a_beginning",
            ),
        ),
        migrations.AddConstraint(
            "company",
            models.CheckConstraint(
                condition=models.Q(
                    ("parent", None), models.Q(("parent", models.F("public_id")), _negated=True), _connector="OR"
                ),
                name="company_is_not_its_own_parent",
            ),
        ),
        hashed("staterevision"),
        hashed("change"),
        hashed("auditrecord"),
        hashed("decisionrecord"),
        hashed("idempotencyrecord"),
        counted("change", "number"),
        counted("idempotencyrecord", "number"),
        counted("idempotencyrecord", "revision"),
        migrations.CreateModel(
            name="Keyframe",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("revision", models.PositiveBigIntegerField()),
                ("digest", models.CharField(max_length=64)),
                ("body", models.BinaryField()),
                (
                    "company",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="mockcore.company",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("company", "revision"), name="keyframe_once_per_revision")
                ]
            },
        ),
    ]
