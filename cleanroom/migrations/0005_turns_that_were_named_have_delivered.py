"""Until now a turn with a name counted as one that had brought its answers."""

from typing import Any

from django.db import migrations


def named_turns_have_delivered(apps: Any, schema_editor: Any) -> None:
    turns = apps.get_model("cleanroom", "ChatTurn").objects.using(schema_editor.connection.alias)
    turns.exclude(provider_turn_id="").update(delivered=True)


class Migration(migrations.Migration):

    dependencies = [
        ('cleanroom', '0004_answers_that_were_delivered'),
    ]

    operations = [
        migrations.RunPython(named_turns_have_delivered, migrations.RunPython.noop),
    ]
