from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('cleanroom', '0002_messages_sent_twice'),
    ]

    operations = [
        migrations.AddField(
            model_name='chatturn',
            name='answer_ref',
            field=models.CharField(blank=True, max_length=128),
        ),
    ]
