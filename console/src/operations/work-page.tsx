import { Badge, Button, Stack, Text } from '@mantine/core';
import { IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { WorkAnswer, WorkProgress } from '../../../protocol/console/operations-answers.ts';
import { admin } from '../api/admin.ts';
import { call, isRefresh } from '../api/call.ts';
import { useApiMutation } from '../api/queries.ts';
import { useRights } from '../api/session.ts';
import { DetailPage, Loaded, Section } from '../components/detail-page.tsx';
import { notifyDone, notifyFailure } from '../components/feedback.tsx';
import { LoadingRows } from '../components/list-page.tsx';
import { RowTable, TimeText } from '../components/row-table.tsx';
import { formatBytes, formatTime } from '../text/format.ts';
import { StoreSection } from './store-section.tsx';
import { ServerSection } from './server-section.tsx';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

/** Background work with pauses, care of the store, and restarts. */
export function WorkPage() {
  const { may } = useRights();
  return (
    <DetailPage title={t.labels.backgroundWork}>
      {may('admin:ServerInfo') && <Tasks />}
      {may('admin:ScrubStatus') && <Scrub />}
      <StoreSection />
      <ServerSection />
    </DetailPage>
  );
}

type Task = WorkAnswer['tasks'][number];

const names: Readonly<Record<string, string>> = {
  batch: t.work.runBatchJobs,
  credentials: t.work.removeExpiredCredentials,
  digests: t.work.sealDigestsOfOlderServers,
  keys: t.work.changeKeysOfObjects,
  inventory: t.work.writeInventoriesOfBuckets,
  checkpoint: t.work.compareRecordsAndBodies,
  lifecycle: t.work.applyLifecycleRules,
  orphans: t.work.removeBodiesWithoutAnOwner,
  pack: t.work.packSmallBodies,
  people: t.work.askWhetherExternalUsersStillExist,
  policies: t.work.checkTheStoredPolicies,
  removals: t.work.removeReplacedBodies,
  scrub: t.work.lookForDamage,
  segments: t.work.compactPackedBodies,
  usage: t.work.countObjectsAndBytes,
  sealing: t.work.sealRecords,
  sessions: t.work.removeExpiredSessions,
  'tier-removals': t.work.removeBodiesFromTiers,
  tiers: t.work.moveBodiesToTiersAndBack,
};

function Tasks() {
  const { may } = useRights();
  const work = useQuery({
    queryKey: ['work'],
    queryFn: (query) => call<WorkAnswer>('GET', '/work', { refresh: isRefresh(query) }),
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
        onSuccess: () => notifyDone(minutes === 0 ? t.work.theWorkGoesOn : t.work.pausedForAnHour),
        onError: (error) => notifyFailure(t.work.nothingWasChanged, error),
      },
    );
  return (
    <Section title={t.work.tasks} words={t.work.aPauseEndsByItselfAfterAn}>
      <Loaded what={t.work.theWorkCannotBeShown} query={work} loading={<LoadingRows height={{ base: 560, sm: 455 }} />}>
        {({ tasks }) => (
          <RowTable
            rows={tasks}
            rowKey={({ task }) => task}
            columns={[
              { head: t.work.task, cell: (task) => <TaskName task={task} /> },
              { head: t.labels.state, width: 110, cell: (task) => <TaskState task={task} /> },
              {
                head: t.work.lastSuccess,
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

function TaskName({ task: { task, failure, pausedUntil, progress } }: { readonly task: Task }) {
  return (
    <Stack gap={0}>
      <Text size="sm">{names[task] ?? task}</Text>
      {progress !== undefined && (
        <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {progressText(progress)}
        </Text>
      )}
      {failure !== undefined && (
        <Text size="xs" c="red" style={{ overflowWrap: 'anywhere' }}>
          {say(t.work.attemptsSince, {
            error: failure.error,
            attempts: failure.attempts,
            since: formatTime(failure.since),
          })}
        </Text>
      )}
      {pausedUntil !== undefined && (
        <Text size="xs" c="dimmed">
          {say(t.work.until, { pausedUntil: formatTime(pausedUntil) })}
        </Text>
      )}
    </Stack>
  );
}

function progressText(progress: WorkProgress): string {
  if (progress.kind === 'queue') {
    const { waiting, more, oldest } = progress;
    if (oldest === undefined) return t.work.nothingWaits;
    return say(more ? t.work.moreThanWaitSince : t.work.waitSince, { waiting, oldest: formatTime(oldest) });
  }
  const { buckets, done, at, changed, failed } = progress;
  if (buckets === 0) return t.work.noBucketHasRulesYet;
  return [
    say(t.work.bucketsAreDoneToday, { done, buckets, changed, failed }),
    ...(at === undefined ? [] : [say(t.work.nowAt, { at })]),
  ].join(' ');
}

function TaskState({ task: { failure, pausedUntil } }: { readonly task: Task }) {
  if (pausedUntil !== undefined) return <Badge color="gray">{t.work.paused}</Badge>;
  return failure === undefined ? <Badge>{t.work.well}</Badge> : <Badge color="red">{t.work.fails}</Badge>;
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
      aria-label={paused ? say(t.work.goOn, { name }) : say(t.work.pause, { name })}
      leftSection={paused ? <IconPlayerPlay size={14} /> : <IconPlayerPause size={14} />}
      onClick={() => onSet(task.task, paused ? 0 : 60)}
    >
      {paused ? t.labels.goOn : t.work.pauseTitle}
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
    queryFn: (query) => admin<ScrubAnswer>('GET', 'coffer/scrub', { refresh: isRefresh(query) }),
    refetchInterval: 10_000,
  });
  return (
    <Section title={t.work.lookForDamage}>
      <Loaded what={t.work.theSearchForDamageCannotBeShown} query={scrub} loading={<LoadingRows lines={1} />}>
        {({ state, quarantined }) => (
          <Text size="sm">
            {state === undefined
              ? t.work.noPassHasBegunYet
              : state.finished === undefined
                ? say(t.work.inProgressObjectsReadDamagedMissing, {
                    objects: state.objects,
                    bytes: formatBytes(state.bytes),
                    damaged: state.damaged,
                    missing: state.missing,
                  })
                : say(t.work.theLastPassEndedObjectsReadDamaged, {
                    objects: state.objects,
                    bytes: formatBytes(state.bytes),
                    damaged: state.damaged,
                    missing: state.missing,
                  })}{' '}
            {quarantined === 0 ? t.work.nothingIsQuarantined : say(t.work.objectsAreQuarantined, { quarantined })}
          </Text>
        )}
      </Loaded>
    </Section>
  );
}
