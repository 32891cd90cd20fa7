import { ActionIcon, Badge, Button, Group, PasswordInput, Stack, Text, TextInput, Title } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { useRights } from '../api/session.ts';
import { Loaded } from '../components/detail-page.tsx';
import { notifyDone, notifyFailure } from '../components/feedback.tsx';
import { FormDialog, RemoveDialog } from '../components/form-dialog.tsx';
import { formatBytes, formatTime } from '../text/format.ts';
import { useAddTarget, useProgress, useRemoteTargets, useRemoveTarget, useResync } from './replication-queries.ts';
import type { RemoteTarget } from './replication-queries.ts';
import { endpointOf } from './replication-rules.ts';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';
import { useDraft, withoutSecret } from '../components/use-draft.ts';

interface RemoteTargetsProps {
  readonly bucket: string;
  /** The targets that rules name. They cannot be removed. */
  readonly inUse: readonly string[];
  readonly mayResync: boolean;
}

/** The servers to which the bucket is replicated, with what waits for each. */
export function RemoteTargets({ bucket, inUse, mayResync }: RemoteTargetsProps) {
  const { may } = useRights();
  const targets = useRemoteTargets(bucket, true);
  const [adding, setAdding] = useDraft('target.adding', false);
  const [removed, setRemoved] = useState<RemoteTarget>();
  const remove = useRemoveTarget(bucket);
  const mayEdit = may('admin:SetBucketTarget');
  return (
    <>
      <Group justify="space-between" mt="sm">
        <Title order={3} fz="sm">
          {t.replication.targets}
        </Title>
        {mayEdit && (
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<IconPlus size={14} />}
            onClick={() => setAdding(true)}
          >
            {t.replication.addATarget}
          </Button>
        )}
      </Group>
      <Loaded what={t.replication.theTargetsCannotBeShown} query={targets}>
        {(rows) =>
          rows.length === 0 ? (
            <Text size="sm" c="dimmed">
              {t.replication.noTargetsYet}
            </Text>
          ) : (
            rows.map((target) => (
              <Group key={target.arn} justify="space-between" wrap="nowrap" align="flex-start" className="card-row">
                <TargetFacts bucket={bucket} target={target} mayResync={mayResync && inUse.includes(target.arn)} />
                {mayEdit && !inUse.includes(target.arn) && (
                  <ActionIcon
                    size="sm"
                    aria-label={say(t.replication.removeTheTarget, { target: placeOf(target) })}
                    onClick={() => setRemoved(target)}
                  >
                    <IconTrash size={15} />
                  </ActionIcon>
                )}
              </Group>
            ))
          )
        }
      </Loaded>
      {adding && <TargetDialog bucket={bucket} onClose={() => setAdding(false)} />}
      {removed !== undefined && (
        <RemoveDialog
          title={say(t.replication.removeTheTargetQuestion, { removed: placeOf(removed) })}
          submit={t.replication.removeTarget}
          remove={remove}
          what={removed.arn}
          done={t.replication.theTargetIsRemoved}
          onDone={() => setRemoved(undefined)}
          onClose={() => setRemoved(undefined)}
        >
          {t.replication.whatWaitsForItIsDroppedWhat}
        </RemoveDialog>
      )}
    </>
  );
}

function placeOf({ endpoint, targetbucket }: RemoteTarget): string {
  return `${endpoint}/${targetbucket}`;
}

interface TargetFactsProps {
  readonly bucket: string;
  readonly target: RemoteTarget;
  readonly mayResync: boolean;
}

function TargetFacts({ bucket, target, mayResync }: TargetFactsProps) {
  const progress = useProgress(bucket, true).data?.[target.arn];
  const resync = useResync(bucket);

  function start(): void {
    resync.mutate(target.arn, {
      onSuccess: () => notifyDone(t.replication.theResyncHasBegun),
      onError: (error) => notifyFailure(t.replication.theResyncDidNotBegin, error),
    });
  }

  return (
    <Stack gap={4} miw={0} style={{ overflowWrap: 'anywhere' }}>
      <Group gap="xs">
        <Text size="sm" fw={550}>
          {target.secure ? 'https' : 'http'}://{placeOf(target)}
        </Text>
        <Badge color={target.isOnline ? 'patina' : 'red'}>
          {target.isOnline ? t.replication.online : t.replication.offline}
        </Badge>
      </Group>
      {progress !== undefined && (
        <Text size="sm" role="status">
          {say(t.replication.sentFailed, {
            waiting:
              progress.pendingReplicationCount === 0
                ? t.replication.nothingWaits
                : progress.waitingSince === undefined
                  ? say(t.replication.versionsWait, {
                      pendingReplicationCount: progress.pendingReplicationCount,
                      pendingReplicationSize: formatBytes(progress.pendingReplicationSize),
                    })
                  : say(t.replication.versionsWaitTheOldestSince, {
                      pendingReplicationCount: progress.pendingReplicationCount,
                      pendingReplicationSize: formatBytes(progress.pendingReplicationSize),
                      waitingSince: formatTime(progress.waitingSince),
                    }),
            replicationCount: progress.replicationCount,
            completedReplicationSize: formatBytes(progress.completedReplicationSize),
            failedReplicationCount: progress.failedReplicationCount,
          })}
        </Text>
      )}
      {progress?.failure && (
        <Text size="sm" c="var(--mantine-color-error)">
          {progress.failure.error}
        </Text>
      )}
      {progress?.held && (
        <Text size="sm" c="var(--mantine-color-error)" style={{ overflowWrap: 'anywhere' }}>
          {say(t.replication.changesAreRefused, progress.held)}
        </Text>
      )}
      {mayResync && (
        <Group>
          <Button size="compact-xs" variant="default" loading={resync.isPending} onClick={start}>
            {t.replication.sendEverythingAgain}
          </Button>
        </Group>
      )}
    </Stack>
  );
}

function TargetDialog({ bucket, onClose }: { readonly bucket: string; readonly onClose: () => void }) {
  const add = useAddTarget(bucket);
  const [form, setForm] = useDraft(
    'target.form',
    { address: '', targetBucket: bucket, accessKey: '', secretKey: '' },
    withoutSecret,
  );
  const [tried, setTried] = useState(false);
  const place = endpointOf(form.address);
  const field = (name: keyof typeof form) => ({
    required: true,
    withAsterisk: false,
    spellCheck: false,
    autoCapitalize: 'none',
    autoComplete: 'off',
    value: form[name],
    onChange: (event: { readonly currentTarget: HTMLInputElement }) =>
      setForm({ ...form, [name]: event.currentTarget.value }),
  });

  function submit(): void {
    setTried(true);
    if (place === undefined) return;
    const { targetBucket, accessKey, secretKey } = form;
    add.mutate(
      { ...place, targetBucket, accessKey, secretKey },
      {
        onSuccess: () => {
          notifyDone(t.replication.theTargetIsAdded);
          onClose();
        },
      },
    );
  }

  return (
    <FormDialog
      title={t.replication.addATargetOfReplication}
      submit={t.replication.addTarget}
      pending={add.isPending}
      error={tried && place === undefined ? new Error(t.replication.writeAnAddressSuchAsHttpsS3) : add.error}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextInput
        label={t.replication.addressOfTheOtherServer}
        placeholder="https://s3.example.com"
        data-autofocus
        {...field('address')}
      />
      <TextInput
        label={t.replication.bucketThere}
        description={t.replication.itMustBeThereAndKeepVersions}
        {...field('targetBucket')}
      />
      <TextInput label={t.labels.accessKey} {...field('accessKey')} />
      <PasswordInput label={t.labels.secretKey} {...field('secretKey')} />
    </FormDialog>
  );
}
