from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('cleanroom', '0003_the_answer_that_a_turn_hands_on'),
    ]

    operations = [
        migrations.AddField(
            model_name='chatturn',
            name='delivered',
            field=models.BooleanField(default=False),
        ),
    ]
