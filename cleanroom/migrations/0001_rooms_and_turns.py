import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='BrowserCapability',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('surface', models.CharField(choices=[('cleanroom', 'Clean room')], max_length=16)),
                ('digest', models.CharField(max_length=64)),
                ('created_at', models.DateTimeField()),
                ('expires_at', models.DateTimeField()),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'verbose_name_plural': 'browser capabilities',
                'constraints': [models.UniqueConstraint(fields=('surface', 'digest'), name='browser_capability_is_unique')],
            },
        ),
        migrations.CreateModel(
            name='ChatSession',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public_id', models.CharField(max_length=64, unique=True)),
                ('surface', models.CharField(choices=[('cleanroom', 'Clean room')], default='cleanroom', max_length=16)),
                ('state', models.CharField(choices=[('opening', 'Opening'), ('open', 'Open'), ('retired', 'Retired')], default='opening', max_length=16)),
                ('token', models.CharField(max_length=8)),
                ('sequence', models.PositiveIntegerField()),
                ('identifier', models.CharField(max_length=32)),
                ('company_id', models.CharField(db_index=True, max_length=64)),
                ('actor_id', models.CharField(max_length=64)),
                ('task_id', models.CharField(max_length=64)),
                ('run_id', models.CharField(max_length=64, unique=True)),
                ('model_label', models.CharField(blank=True, max_length=200)),
                ('rehearsal', models.BooleanField(default=False)),
                ('turn_count', models.PositiveIntegerField(default=0)),
                ('snapshot', models.TextField(blank=True)),
                ('opened_at', models.DateTimeField()),
                ('retired_at', models.DateTimeField(blank=True, null=True)),
                ('retired_because', models.CharField(blank=True, max_length=40)),
                ('capability', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='sessions', to='cleanroom.browsercapability')),
            ],
            options={
                'indexes': [models.Index(fields=['surface', 'state', 'opened_at'], name='chat_session_by_age')],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('state', 'retired'), _negated=True), ('retired_at__isnull', False), _connector='OR'), name='chat_session_retired_has_a_time')],
            },
        ),
        migrations.CreateModel(
            name='ChatTurn',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('ordinal', models.PositiveIntegerField()),
                ('state', models.CharField(max_length=20)),
                ('message_id', models.CharField(max_length=64)),
                ('provider_turn_id', models.CharField(blank=True, max_length=128)),
                ('counts', models.BooleanField(default=True)),
                ('error_code', models.CharField(blank=True, max_length=64)),
                ('submitted_at', models.DateTimeField()),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('session', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='turns', to='cleanroom.chatsession')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('session', 'ordinal'), name='chat_turn_ordinal_is_unique'), models.UniqueConstraint(condition=models.Q(('state__in', ['completed', 'interrupted', 'failed']), _negated=True), fields=('session',), name='chat_session_has_one_active_turn')],
            },
        ),
    ]
