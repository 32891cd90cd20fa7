import { Badge, Button, Stack, Text } from '@mantine/core';
import { IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { WorkAnswer } from '../../../contract/operations-answers.ts';
import { admin } from '../api/admin.ts';
import { call } from '../api/call.ts';
import { useApiMutation } from '../api/queries.ts';
import { useRights } from '../api/session.ts';
import { DetailPage, Loaded, Section } from '../components/detail-page.tsx';
import { notifyDone, notifyFailure } from '../components/feedback.tsx';
import { RowTable, TimeText } from '../components/row-table.tsx';
import { formatBytes, formatTime } from '../text/format.ts';
import { StoreSection } from './store-section.tsx';
import { ServerSection } from './server-section.tsx';

/** Background work with pauses, care of the store, and restarts. */
export function WorkPage() {
  const { may } = useRights();
  return (
    <DetailPage title="Background work" width={1_080}>
      {may('admin:ServerInfo') && <Tasks />}
      {may('admin:ScrubStatus') && <Scrub />}
      <StoreSection />
      <ServerSection />
    </DetailPage>
  );
}

type Task = WorkAnswer['tasks'][number];

const names: Readonly<Record<string, string>> = {
  batch: 'Run batch jobs',
  credentials: 'Remove expired credentials',
  digests: 'Seal digests of older servers',
  keys: 'Change keys of objects',
  inventory: 'Write inventories of buckets',
  lifecycle: 'Apply lifecycle rules',
  orphans: 'Remove bodies without an owner',
  people: 'Ask whether external users still exist',
  policies: 'Check the stored policies',
  removals: 'Remove replaced bodies',
  scrub: 'Look for damage',
  segments: 'Compact packed bodies',
  usage: 'Count objects and bytes',
  sealing: 'Seal records',
  sessions: 'Remove expired sessions',
};

function Tasks() {
  const { may } = useRights();
  const work = useQuery({
    queryKey: ['work'],
    queryFn: () => call<WorkAnswer>('GET', '/work'),
    refetchInterval: 5_000,
  });
  const pause = useApiMutation(
    (form: { readonly task: string; readonly minutes: number }) => call('PUT', '/work/pause', { body: form }),
    ['work', 'health'],
  );
  const set = (task: string, minutes: number) =>
    pause.mutate(
      { task, minutes },
      {
        onSuccess: () => notifyDone(minutes === 0 ? 'The work goes on.' : 'Paused for an hour.'),
        onError: (error) => notifyFailure('Nothing was changed', error),
      },
    );
  return (
    <Section title="Tasks" words="A pause ends by itself after an hour. The work then goes on where it was.">
      <Loaded name="The work" query={work}>
        {({ tasks }) => (
          <RowTable
            rows={tasks}
            rowKey={({ task }) => task}
            columns={[
              { head: 'Task', cell: (task) => <TaskName task={task} /> },
              { head: 'State', width: 110, cell: (task) => <TaskState task={task} /> },
              {
                head: 'Last success',
                width: 180,
                wideOnly: true,
                cell: ({ lastSuccess }) => (lastSuccess === undefined ? '–' : <TimeText at={lastSuccess} />),
              },
              ...(may('admin:PauseBackgroundTask')
                ? [
                    {
                      head: undefined,
                      width: 110,
                      align: 'right' as const,
                      cell: (task: Task) => task.pausable && <PauseButton task={task} onSet={set} />,
                    },
                  ]
                : []),
            ]}
          />
        )}
      </Loaded>
    </Section>
  );
}

function TaskName({ task: { task, failure, pausedUntil } }: { readonly task: Task }) {
  return (
    <Stack gap={0}>
      <Text size="sm">{names[task] ?? task}</Text>
      {failure !== undefined && (
        <Text size="xs" c="red" style={{ overflowWrap: 'anywhere' }}>
          {failure.error} ({failure.attempts} attempts since {formatTime(failure.since)})
        </Text>
      )}
      {pausedUntil !== undefined && (
        <Text size="xs" c="dimmed">
          until {formatTime(pausedUntil)}
        </Text>
      )}
    </Stack>
  );
}

function TaskState({ task: { failure, pausedUntil } }: { readonly task: Task }) {
  if (pausedUntil !== undefined) return <Badge color="gray">paused</Badge>;
  return failure === undefined ? <Badge>well</Badge> : <Badge color="red">fails</Badge>;
}

function PauseButton({
  task,
  onSet,
}: {
  readonly task: Task;
  readonly onSet: (task: string, minutes: number) => void;
}) {
  const paused = task.pausedUntil !== undefined;
  const name = names[task.task] ?? task.task;
  return (
    <Button
      variant="default"
      size="compact-sm"
      aria-label={paused ? `Go on: ${name}` : `Pause: ${name}`}
      leftSection={paused ? <IconPlayerPlay size={14} /> : <IconPlayerPause size={14} />}
      onClick={() => onSet(task.task, paused ? 0 : 60)}
    >
      {paused ? 'Go on' : 'Pause'}
    </Button>
  );
}

interface ScrubAnswer {
  readonly state?: {
    readonly started: number;
    readonly finished?: number;
    readonly objects: number;
    readonly bytes: number;
    readonly damaged: number;
    readonly missing: number;
  };
  readonly quarantined: number;
}

function Scrub() {
  const scrub = useQuery({
    queryKey: ['scrub'],
    queryFn: () => admin<ScrubAnswer>('GET', 'coffer/scrub'),
    refetchInterval: 10_000,
  });
  return (
    <Section title="Look for damage">
      <Loaded name="The search for damage" query={scrub}>
        {({ state, quarantined }) => (
          <Text size="sm">
            {state === undefined
              ? 'No pass has begun yet.'
              : `${state.finished === undefined ? 'In progress' : 'The last pass ended'}: ${state.objects.toLocaleString()} objects, ${formatBytes(state.bytes)} read, ${state.damaged} damaged, ${state.missing} missing.`}{' '}
            {quarantined === 0 ? 'Nothing is quarantined.' : `${quarantined} objects are quarantined.`}
          </Text>
        )}
      </Loaded>
    </Section>
  );
}
