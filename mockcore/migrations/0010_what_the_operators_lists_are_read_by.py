"""The lists of the admin are narrowed and searched by these columns; each is read by an index, newest first."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('mockcore', '0009_how_many_rows_are_older_than_a_chain'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='actor',
            index=models.Index(fields=['public_id', 'company', 'position'], name='actor_on_public_id'),
        ),
        migrations.AddIndex(
            model_name='actor',
            index=models.Index(fields=['status', 'company', 'position'], name='actor_on_status'),
        ),
        migrations.AddIndex(
            model_name='approval',
            index=models.Index(fields=['public_id', 'company', 'position'], name='approval_on_public_id'),
        ),
        migrations.AddIndex(
            model_name='approval',
            index=models.Index(fields=['status', 'company', 'position'], name='approval_on_status'),
        ),
        migrations.AddIndex(
            model_name='approvalcomment',
            index=models.Index(fields=['public_id', 'company', 'position'], name='approvalcomment_on_public_id'),
        ),
        migrations.AddIndex(
            model_name='artifact',
            index=models.Index(fields=['public_id', 'company', 'position'], name='artifact_on_public_id'),
        ),
        migrations.AddIndex(
            model_name='auditrecord',
            index=models.Index(fields=['entity_id', 'id'], name='auditrecord_on_entity_id'),
        ),
        migrations.AddIndex(
            model_name='blocker',
            index=models.Index(fields=['public_id', 'company', 'position'], name='blocker_on_public_id'),
        ),
        migrations.AddIndex(
            model_name='budget',
            index=models.Index(fields=['public_id', 'company', 'position'], name='budget_on_public_id'),
        ),
        migrations.AddIndex(
            model_name='budget',
            index=models.Index(fields=['scope', 'company', 'position'], name='budget_on_scope'),
        ),
        migrations.AddIndex(
            model_name='change',
            index=models.Index(fields=['entity', 'id'], name='change_on_entity'),
        ),
        migrations.AddIndex(
            model_name='change',
            index=models.Index(fields=['entity_id', 'id'], name='change_on_entity_id'),
        ),
        migrations.AddIndex(
            model_name='comment',
            index=models.Index(fields=['public_id', 'company', 'position'], name='comment_on_public_id'),
        ),
        migrations.AddIndex(
            model_name='company',
            index=models.Index(fields=['status', 'public_id'], name='company_on_status'),
        ),
        migrations.AddIndex(
            model_name='company',
            index=models.Index(fields=['lifecycle', 'public_id'], name='company_on_lifecycle'),
        ),
        migrations.AddIndex(
            model_name='decisionrecord',
            index=models.Index(fields=['operation', 'id'], name='decisionrecord_on_operation'),
        ),
        migrations.AddIndex(
            model_name='decisionrecord',
            index=models.Index(fields=['outcome', 'id'], name='decisionrecord_on_outcome'),
        ),
        migrations.AddIndex(
            model_name='document',
            index=models.Index(fields=['public_id', 'company', 'position'], name='document_on_public_id'),
        ),
        migrations.AddIndex(
            model_name='documentrevision',
            index=models.Index(fields=['public_id', 'company', 'position'], name='documentrevision_on_public_id'),
        ),
        migrations.AddIndex(
            model_name='fault',
            index=models.Index(fields=['public_id', 'company', 'position'], name='fault_on_public_id'),
        ),
        migrations.AddIndex(
            model_name='fault',
            index=models.Index(fields=['operation', 'company', 'position'], name='fault_on_operation'),
        ),
        migrations.AddIndex(
            model_name='fault',
            index=models.Index(fields=['effect', 'company', 'position'], name='fault_on_effect'),
        ),
        migrations.AddIndex(
            model_name='idempotencyrecord',
            index=models.Index(fields=['company', 'id'], name='idempotencyrecord_on_company'),
        ),
        migrations.AddIndex(
            model_name='idempotencyrecord',
            index=models.Index(fields=['key', 'id'], name='idempotencyrecord_on_key'),
        ),
        migrations.AddIndex(
            model_name='interaction',
            index=models.Index(fields=['public_id', 'company', 'position'], name='interaction_on_public_id'),
        ),
        migrations.AddIndex(
            model_name='interaction',
            index=models.Index(fields=['kind', 'company', 'position'], name='interaction_on_kind'),
        ),
        migrations.AddIndex(
            model_name='interaction',
            index=models.Index(fields=['status', 'company', 'position'], name='interaction_on_status'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['public_id', 'company', 'position'], name='run_on_public_id'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['status', 'company', 'position'], name='run_on_status'),
        ),
        migrations.AddIndex(
            model_name='runevent',
            index=models.Index(fields=['public_id', 'company', 'position'], name='runevent_on_public_id'),
        ),
        migrations.AddIndex(
            model_name='staterevision',
            index=models.Index(fields=['operation', 'id'], name='staterevision_on_operation'),
        ),
        migrations.AddIndex(
            model_name='staterevision',
            index=models.Index(fields=['principal', 'id'], name='staterevision_on_principal'),
        ),
        migrations.AddIndex(
            model_name='task',
            index=models.Index(fields=['public_id', 'company', 'position'], name='task_on_public_id'),
        ),
        migrations.AddIndex(
            model_name='task',
            index=models.Index(fields=['status', 'company', 'position'], name='task_on_status'),
        ),
        migrations.AddIndex(
            model_name='task',
            index=models.Index(fields=['priority', 'company', 'position'], name='task_on_priority'),
        ),
        migrations.AddIndex(
            model_name='task',
            index=models.Index(fields=['work_mode', 'company', 'position'], name='task_on_work_mode'),
        ),
        migrations.AddIndex(
            model_name='wake',
            index=models.Index(fields=['public_id', 'company', 'position'], name='wake_on_public_id'),
        ),
        migrations.AddIndex(
            model_name='wake',
            index=models.Index(fields=['reason', 'company', 'position'], name='wake_on_reason'),
        ),
        migrations.AddIndex(
            model_name='wake',
            index=models.Index(fields=['status', 'company', 'position'], name='wake_on_status'),
        ),
        migrations.AddIndex(
            model_name='workproduct',
            index=models.Index(fields=['public_id', 'company', 'position'], name='workproduct_on_public_id'),
        ),
        migrations.AddIndex(
            model_name='workproduct',
            index=models.Index(fields=['type', 'company', 'position'], name='workproduct_on_type'),
        ),
        migrations.AddIndex(
            model_name='workspaceservice',
            index=models.Index(fields=['public_id', 'company', 'position'], name='workspaceservice_on_public_id'),
        ),
        migrations.AddIndex(
            model_name='workspaceservice',
            index=models.Index(fields=['status', 'company', 'position'], name='workspaceservice_on_status'),
        ),
    ]
