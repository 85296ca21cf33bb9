"""The lists of the admin are narrowed and searched by these columns; each is read by an index, newest first."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('cleanroom', '0005_turns_that_were_named_have_delivered'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='chatsession',
            index=models.Index(fields=['state', 'id'], name='chat_session_by_state'),
        ),
        migrations.AddIndex(
            model_name='chatsession',
            index=models.Index(fields=['identifier', 'id'], name='chat_session_by_identifier'),
        ),
        migrations.AddIndex(
            model_name='chatsession',
            index=models.Index(fields=['token', 'id'], name='chat_session_by_token'),
        ),
        migrations.AddIndex(
            model_name='chatturn',
            index=models.Index(fields=['state', 'id'], name='chat_turn_by_state'),
        ),
        migrations.AddIndex(
            model_name='chatturn',
            index=models.Index(fields=['message_id', 'id'], name='chat_turn_by_message'),
        ),
    ]
