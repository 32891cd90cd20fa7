import { ActionIcon, Badge, Button, Menu, Modal, Stack, Text } from '@mantine/core';
import { IconDots, IconPlus, IconStack2 } from '@tabler/icons-react';
import { useState } from 'react';
import { useRights } from '../../api/session.ts';
import { DetailPage, Loaded } from '../../components/detail-page.tsx';
import { Empty } from '../../components/feedback.tsx';
import { RemoveDialog, useRestoreFocus } from '../../components/form-dialog.tsx';
import { type Column, RowTable, TimeText } from '../../components/row-table.tsx';
import { formatBytes, formatTime } from '../../text/format.ts';
import { type BatchJobRow, useBatchJobs, useCancelJob, useDefinition } from './batch-queries.ts';
import { type JobState, jobStates } from './job-state.ts';
import { StartJobDialog } from './start-job-dialog.tsx';

const kinds = { expire: 'Remove objects', keyrotate: 'Change keys', replicate: 'Replicate' } as const;

/** Batch jobs with their progress. */
export function BatchPage() {
  const { may } = useRights();
  const jobs = useBatchJobs();
  const [starting, setStarting] = useState(false);
  return (
    <DetailPage
      title="Batch jobs"
      width={1_080}
      actions={
        may('admin:StartBatchJob') && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => setStarting(true)}>
            Start job
          </Button>
        )
      }
    >
      <Loaded name="The batch jobs" query={jobs}>
        {(rows) => (rows.length === 0 ? <NoJobs mayStart={may('admin:StartBatchJob')} /> : <Jobs jobs={rows} />)}
      </Loaded>
      {starting && <StartJobDialog onClose={() => setStarting(false)} />}
    </DetailPage>
  );
}

function NoJobs({ mayStart }: { readonly mayStart: boolean }) {
  return (
    <Empty icon={<IconStack2 size={30} stroke={1.4} />} title="No batch jobs">
      A job removes the objects of a bucket that match its conditions, gives them another key, or copies them from or to
      another server. {!mayStart && 'Starting one needs admin:StartBatchJob, which an administrator can allow.'}
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
    { head: 'Job', cell: (job) => <JobName job={job} /> },
    { head: 'State', width: 110, cell: ({ id }) => <StateBadge state={states.get(id) ?? 'waits'} /> },
    { head: 'Progress', cell: (job) => <Progress job={job} /> },
    { head: 'Started', width: 170, wideOnly: true, cell: ({ started }) => <TimeText at={started} /> },
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
                    <ActionIcon aria-label={`Actions for the job ${job.id}`}>
                      <IconDots size={17} />
                    </ActionIcon>
                  </Menu.Target>
                  <Menu.Dropdown>
                    {mayDescribe && <Menu.Item onClick={() => setShown(job)}>Show the definition</Menu.Item>}
                    {mayCancel && (
                      <Menu.Item color="red" onClick={() => setCancelled(job)}>
                        Cancel…
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
          title="Cancel the job?"
          submit="Cancel job"
          remove={cancel}
          what={cancelled.id}
          done="The job is cancelled."
          onDone={() => setCancelled(undefined)}
          onClose={() => setCancelled(undefined)}
        >
          It ends after at most 1,000 versions more. What it has done stays done.
        </RemoveDialog>
      )}
    </>
  );
}

function JobName({ job: { id, type, bucket, user } }: { readonly job: BatchJobRow }) {
  return (
    <Stack gap={0} style={{ overflowWrap: 'anywhere' }}>
      <Text size="sm">
        {kinds[type]} in {bucket}
      </Text>
      <Text size="xs" c="dimmed">
        by {user}
      </Text>
      <Text size="xs" c="dimmed" className="mono">
        {id}
      </Text>
    </Stack>
  );
}

function StateBadge({ state }: { readonly state: JobState }) {
  if (state === 'waits') return <Badge color="gray">waits</Badge>;
  if (state === 'runs') return <Badge>runs</Badge>;
  return state === 'done' ? <Badge>done</Badge> : <Badge color="red">failures</Badge>;
}

function Progress({ job }: { readonly job: BatchJobRow }) {
  const { objects, deleteMarkers, bytes, failed, failure, lastKey, ended } = job;
  const counts = [
    `${objects.toLocaleString()} versions`,
    ...(deleteMarkers > 0 ? [`${deleteMarkers.toLocaleString()} delete markers`] : []),
    ...(bytes === undefined ? [] : [formatBytes(bytes)]),
    ...(failed > 0 ? [`${failed.toLocaleString()} failed`] : []),
  ];
  return (
    <Stack gap={0} style={{ overflowWrap: 'anywhere' }}>
      <Text size="sm">{counts.join(', ')}</Text>
      {ended === undefined && lastKey !== undefined && (
        <Text size="xs" c="dimmed">
          done up to {lastKey}
        </Text>
      )}
      {ended !== undefined && (
        <Text size="xs" c="dimmed">
          ended {formatTime(ended)}
        </Text>
      )}
      {failure !== undefined && (
        <Text size="xs" c="var(--mantine-color-error)">
          {failure.key}: {failure.message}
        </Text>
      )}
    </Stack>
  );
}

function DefinitionDialog({ job, onClose }: { readonly job: BatchJobRow; readonly onClose: () => void }) {
  useRestoreFocus();
  const definition = useDefinition(job.id);
  return (
    <Modal opened onClose={onClose} title="Definition of the job" size="lg">
      <Loaded name="The definition" query={definition}>
        {(text) => (
          <pre className="document" tabIndex={0} aria-label="Definition">
            {text}
          </pre>
        )}
      </Loaded>
    </Modal>
  );
}
