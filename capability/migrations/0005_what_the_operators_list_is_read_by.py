"""The lists of the admin are narrowed and searched by these columns; each is read by an index, newest first."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('capability', '0004_no_manager_changes_a_record'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='authorizationrecord',
            index=models.Index(fields=['phase', 'id'], name='authorization_by_phase'),
        ),
        migrations.AddIndex(
            model_name='authorizationrecord',
            index=models.Index(fields=['code', 'id'], name='authorization_by_code'),
        ),
        migrations.AddIndex(
            model_name='authorizationrecord',
            index=models.Index(fields=['operation_id', 'id'], name='authorization_by_operation'),
        ),
        migrations.AddIndex(
            model_name='authorizationrecord',
            index=models.Index(fields=['run_id', 'id'], name='authorization_by_run'),
        ),
        migrations.AddIndex(
            model_name='authorizationrecord',
            index=models.Index(fields=['call_id', 'id'], name='authorization_by_call'),
        ),
        migrations.AddIndex(
            model_name='authorizationrecord',
            index=models.Index(fields=['turn_id', 'id'], name='authorization_by_turn'),
        ),
    ]
