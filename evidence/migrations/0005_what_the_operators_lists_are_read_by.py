"""The lists of the admin are narrowed and searched by these columns; each is read by an index, newest first."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('evidence', '0004_no_manager_changes_an_event'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='sessionlog',
            index=models.Index(fields=['run_id', 'id'], name='evidence_log_by_run'),
        ),
        migrations.AddIndex(
            model_name='sessionlog',
            index=models.Index(fields=['close_code', 'id'], name='evidence_log_by_end'),
        ),
    ]
