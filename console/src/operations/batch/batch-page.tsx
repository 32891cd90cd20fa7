import { ActionIcon, Badge, Button, Menu, Modal, Stack, Text } from '@mantine/core';
import { IconDots, IconFileText, IconPlayerStop, IconPlus, IconStack2 } from '@tabler/icons-react';
import { useState } from 'react';
import { useRights } from '../../api/session.ts';
import { DetailPage, Loaded } from '../../components/detail-page.tsx';
import { Empty } from '../../components/feedback.tsx';
import { RemoveDialog } from '../../components/form-dialog.tsx';
import { useRestoreFocus } from '../../components/kept-focus.ts';
import { type Column, RowTable, TimeText } from '../../components/row-table.tsx';
import { formatBytes, formatTime } from '../../text/format.ts';
import { type BatchJobRow, useBatchJobs, useCancelJob, useDefinition } from './batch-queries.ts';
import { type JobState, jobStates } from './job-state.ts';
import { StartJobDialog } from './start-job-dialog.tsx';
import { say } from '../../texts/say.ts';
import { NameText } from '../../components/name-text.tsx';
import { t } from '../../texts/texts.ts';
import { useDraft } from '../../components/use-draft.ts';

const kinds = { expire: t.batch.removeObjects, keyrotate: t.batch.changeKeys, replicate: t.batch.replicate } as const;

/** Batch jobs with their progress. */
export function BatchPage() {
  const { may } = useRights();
  const jobs = useBatchJobs();
  const [starting, setStarting] = useDraft('starting', false);
  return (
    <DetailPage
      title={t.batch.batchJobs}
      actions={
        may('admin:StartBatchJob') && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => setStarting(true)}>
            {t.batch.startJob}
          </Button>
        )
      }
    >
      <Loaded what={t.batch.theBatchJobsCannotBeShown} query={jobs}>
        {(rows) => (rows.length === 0 ? <NoJobs mayStart={may('admin:StartBatchJob')} /> : <Jobs jobs={rows} />)}
      </Loaded>
      {starting && <StartJobDialog onClose={() => setStarting(false)} />}
    </DetailPage>
  );
}

function NoJobs({ mayStart }: { readonly mayStart: boolean }) {
  return (
    <Empty icon={IconStack2} title={t.batch.noBatchJobs} missing={mayStart ? undefined : 'admin:StartBatchJob'}>
      {t.batch.aJobRemovesTheObjectsOfA}
    </Empty>
  );
}

function Jobs({ jobs }: { readonly jobs: readonly BatchJobRow[] }) {
  const { may } = useRights();
  const cancel = useCancelJob();
  const [shown, setShown] = useState<BatchJobRow>();
  const [cancelled, setCancelled] = useState<BatchJobRow>();
  const states = jobStates(jobs);
  const mayDescribe = may('admin:DescribeBatchJob');
  const mayCancel = may('admin:CancelBatchJob');
  const columns: readonly Column<BatchJobRow>[] = [
    { head: t.batch.job, cell: (job) => <JobName job={job} /> },
    { head: t.labels.state, width: 110, cell: ({ id }) => <StateBadge state={states.get(id) ?? 'waits'} /> },
    { head: t.batch.progress, cell: (job) => <Progress job={job} /> },
    { head: t.batch.started, width: 170, wideOnly: true, cell: ({ started }) => <TimeText at={started} /> },
    ...(mayDescribe || mayCancel
      ? [
          {
            head: undefined,
            width: 60,
            align: 'right' as const,
            cell: (job: BatchJobRow) =>
              job.ended === undefined && (
                <Menu position="bottom-end">
                  <Menu.Target>
                    <ActionIcon
                      className="row-actions"
                      size="sm"
                      aria-label={say(t.batch.actionsForTheJob, { id: job.id })}
                    >
                      <IconDots size={17} />
                    </ActionIcon>
                  </Menu.Target>
                  <Menu.Dropdown>
                    {mayDescribe && (
                      <Menu.Item leftSection={<IconFileText size={15} />} onClick={() => setShown(job)}>
                        {t.batch.showTheDefinition}
                      </Menu.Item>
                    )}
                    {mayCancel && (
                      <Menu.Item
                        color="var(--coffer-danger)"
                        leftSection={<IconPlayerStop size={15} />}
                        onClick={() => setCancelled(job)}
                      >
                        {t.batch.cancel}
                      </Menu.Item>
                    )}
                  </Menu.Dropdown>
                </Menu>
              ),
          },
        ]
      : []),
  ];
  return (
    <>
      <RowTable rows={jobs} rowKey={({ id }) => id} columns={columns} />
      {shown !== undefined && <DefinitionDialog job={shown} onClose={() => setShown(undefined)} />}
      {cancelled !== undefined && (
        <RemoveDialog
          title={t.batch.cancelTheJob}
          submit={t.batch.cancelJob}
          remove={cancel}
          what={cancelled.id}
          done={t.batch.theJobIsCancelled}
          onDone={() => setCancelled(undefined)}
          onClose={() => setCancelled(undefined)}
        >
          {t.batch.itEndsAfterAtMost1000}
        </RemoveDialog>
      )}
    </>
  );
}

function JobName({ job: { id, type, bucket, user } }: { readonly job: BatchJobRow }) {
  return (
    <Stack gap={0} style={{ overflowWrap: 'anywhere' }}>
      <Text size="sm">{say(t.batch.in, { type: kinds[type], bucket })}</Text>
      <Text size="xs" c="dimmed">
        {say(t.batch.by, { user })}
      </Text>
      <Text size="xs" c="dimmed" className="mono">
        {id}
      </Text>
    </Stack>
  );
}

function StateBadge({ state }: { readonly state: JobState }) {
  if (state === 'waits') return <Badge color="gray">{t.batch.waits}</Badge>;
  if (state === 'runs') return <Badge>{t.batch.runs}</Badge>;
  if (state === 'cancelled') return <Badge color="gray">{t.batch.cancelled}</Badge>;
  return state === 'done' ? <Badge>{t.batch.done}</Badge> : <Badge color="red">{t.batch.failures}</Badge>;
}

function Progress({ job }: { readonly job: BatchJobRow }) {
  const { objects, deleteMarkers, bytes, failed, failure, lastKey, ended } = job;
  const counts = [
    say(t.batch.versions, { objects }),
    ...(deleteMarkers > 0 ? [say(t.batch.deleteMarkers, { deleteMarkers })] : []),
    ...(bytes === undefined ? [] : [formatBytes(bytes)]),
    ...(failed > 0 ? [say(t.batch.failed, { failed })] : []),
  ];
  return (
    <Stack gap={0} style={{ overflowWrap: 'anywhere' }}>
      <Text size="sm">{counts.join(', ')}</Text>
      {ended === undefined && lastKey !== undefined && (
        <Text size="xs" c="dimmed">
          {say(t.batch.doneUpTo, { lastKey })}
        </Text>
      )}
      {ended !== undefined && (
        <Text size="xs" c="dimmed">
          {say(t.batch.ended, { ended: formatTime(ended) })}
        </Text>
      )}
      {failure !== undefined && (
        <Text size="xs" c="var(--mantine-color-error)">
          <NameText name={failure.key} max={120} />: {failure.message}
        </Text>
      )}
    </Stack>
  );
}

function DefinitionDialog({ job, onClose }: { readonly job: BatchJobRow; readonly onClose: () => void }) {
  useRestoreFocus();
  const definition = useDefinition(job.id);
  return (
    <Modal opened onClose={onClose} title={t.batch.definitionOfTheJob} size="lg">
      <Loaded what={t.batch.theDefinitionCannotBeShown} query={definition}>
        {(text) => (
          <pre className="document" tabIndex={0} aria-label={t.batch.definition}>
            {text}
          </pre>
        )}
      </Loaded>
    </Modal>
  );
}
