import { Badge, Group, Select, Stack, Switch, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useBucketLock, useSetBucketLock, type BucketLock } from '../api/object-properties.ts';
import { Loaded, Section } from '../components/detail-page.tsx';
import { notifyDone, notifyFailure } from '../components/feedback.tsx';
import { FormError, RemoveDialog } from '../components/form-dialog.tsx';
import { NameText } from '../components/name-text.tsx';
import { EditButton, SaveButtons } from '../components/edit-buttons.tsx';
import { useVersioning, type BucketVersioning } from '../api/versioning.ts';
import { useSetVersioning } from './settings-queries.ts';
import { rich, say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';
import { useDraft } from '../components/use-draft.ts';

interface SectionProps {
  readonly bucket: string;
  readonly mayEdit: boolean;
}

const words = {
  Enabled: t.bucketSettings.eachChangeOfAnObjectKeepsWhat,
  Suspended: t.bucketSettings.newChangesKeepNoVersionsTheVersions,
  Off: t.bucketSettings.aChangeOfAnObjectReplacesWhat,
} as const;

export function VersioningSection({ bucket, mayEdit }: SectionProps) {
  const versioning = useVersioning(bucket);
  const set = useSetVersioning(bucket);
  const [asking, setAsking] = useState(false);

  function change(on: boolean): void {
    set.mutate(
      { on, forgets: false },
      {
        onSuccess: (outcome) => {
          if (outcome === 'has-exclusions') setAsking(true);
          else notifyDone(on ? t.bucketSettings.versioningIsOn : t.bucketSettings.versioningIsSuspended);
        },
        onError: (error) => notifyFailure(t.bucketSettings.versioningStaysAsItIs, error),
      },
    );
  }

  return (
    <Section title={t.bucketSettings.versioning}>
      <Loaded what={t.bucketSettings.theVersioningCannotBeShown} query={versioning}>
        {(now) => (
          <Stack gap="xs">
            {mayEdit ? (
              <Switch
                label={t.bucketSettings.keepVersions}
                description={words[now.status]}
                checked={now.status === 'Enabled'}
                disabled={set.isPending}
                onChange={(event) => change(event.currentTarget.checked)}
              />
            ) : (
              <Group gap="xs">
                <Badge color={now.status === 'Enabled' ? undefined : 'gray'}>
                  {now.status === 'Enabled' ? t.bucketSettings.on : t.bucketSettings.off}
                </Badge>
                <Text size="sm">{words[now.status]}</Text>
              </Group>
            )}
            {now.status === 'Enabled' && <Exclusions versioning={now} />}
          </Stack>
        )}
      </Loaded>
      {asking && (
        <RemoveDialog
          title={t.bucketSettings.suspendVersioning}
          submit={t.bucketSettings.suspend}
          remove={set}
          what={{ on: false, forgets: true }}
          done={t.bucketSettings.versioningIsSuspended}
          onDone={() => setAsking(false)}
          onClose={() => setAsking(false)}
        >
          {t.bucketSettings.theExcludedPrefixesAreForgotten}
        </RemoveDialog>
      )}
    </Section>
  );
}

function Exclusions({ versioning: { excludedPrefixes, excludeFolders } }: { readonly versioning: BucketVersioning }) {
  return (
    <>
      {excludedPrefixes.map((prefix) => (
        <Text key={prefix} size="sm">
          {rich(t.bucketSettings.keysThatBeginWithKeepNoVersions, { prefix: <NameText name={prefix} /> })}
        </Text>
      ))}
      {excludeFolders && <Text size="sm">{t.bucketSettings.foldersKeepNoVersions}</Text>}
    </>
  );
}

/** The default retention of a bucket with object lock. */
export function DefaultRetention({ bucket, mayEdit }: SectionProps) {
  const lock = useBucketLock(bucket, true);
  const set = useSetBucketLock(bucket);
  const [edited, setEdited] = useDraft<{ mode: string; count: string; unit: string } | undefined>(
    'retention',
    undefined,
  );
  if (lock.data === null) {
    return (
      <Section title={t.bucketSettings.objectLock}>
        <Text size="sm" c="dimmed">
          {t.bucketSettings.offItCanBeTurnedOnWhen}
        </Text>
      </Section>
    );
  }

  function edit({ mode, days, years }: BucketLock): void {
    setEdited({
      mode: mode ?? 'none',
      count: String(years ?? days ?? 30),
      unit: years === undefined ? 'days' : 'years',
    });
  }

  function save(): void {
    if (edited === undefined) return;
    const { mode, count, unit } = edited;
    const period = unit === 'years' ? { years: Number(count) } : { days: Number(count) };
    set.mutate(mode === 'GOVERNANCE' || mode === 'COMPLIANCE' ? { mode, ...period } : {}, {
      onSuccess: () => {
        setEdited(undefined);
        notifyDone(t.bucketSettings.theDefaultRetentionIsSaved);
      },
    });
  }

  return (
    <Section
      title={t.bucketSettings.objectLock}
      words={t.bucketSettings.theRetentionOfEachNewVersionThat}
      action={
        mayEdit &&
        edited === undefined &&
        lock.isSuccess && (
          <EditButton label={t.bucketSettings.editTheDefaultRetention} onClick={() => edit(lock.data ?? {})} />
        )
      }
    >
      {edited === undefined ? (
        <Loaded what={t.bucketSettings.theObjectLockCannotBeShown} query={lock}>
          {(shown) => <Text size="sm">{sentence(shown ?? {})}</Text>}
        </Loaded>
      ) : (
        <Stack gap="sm">
          <Select
            label={t.bucketSettings.mode}
            allowDeselect={false}
            data={[
              { value: 'none', label: t.bucketSettings.noDefaultRetention },
              { value: 'GOVERNANCE', label: t.bucketSettings.governanceASpecialRightCanEndIt },
              { value: 'COMPLIANCE', label: t.bucketSettings.complianceNoUserCanEndIt },
            ]}
            value={edited.mode}
            onChange={(mode) => setEdited({ ...edited, mode: mode ?? 'none' })}
          />
          {edited.mode !== 'none' && (
            <Group gap="xs" align="flex-end">
              <TextInput
                label={t.bucketSettings.for}
                type="number"
                min={1}
                w={100}
                value={edited.count}
                onChange={(event) => setEdited({ ...edited, count: event.currentTarget.value })}
              />
              <Select
                aria-label={t.bucketSettings.unit}
                w={120}
                allowDeselect={false}
                data={[
                  { value: 'days', label: t.bucketSettings.days },
                  { value: 'years', label: t.bucketSettings.years },
                ]}
                value={edited.unit}
                onChange={(unit) => setEdited({ ...edited, unit: unit ?? 'days' })}
              />
            </Group>
          )}
          <FormError error={set.error} />
          <SaveButtons pending={set.isPending} onSave={save} onCancel={() => setEdited(undefined)} />
        </Stack>
      )}
    </Section>
  );
}

function sentence({ mode, days, years }: BucketLock): string {
  if (mode === undefined) return t.bucketSettings.onWithoutADefaultRetention;
  const [count, unit] = years === undefined ? [days ?? 0, 'day'] : [years, 'year'];
  return unit === 'day'
    ? say(t.bucketSettings.newVersionsAreKeptForDaysIn, { count, mode })
    : say(t.bucketSettings.newVersionsAreKeptForYearsIn, { count, mode });
}
