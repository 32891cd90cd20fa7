import { Badge, Group, Select, Stack, Switch, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { BucketLock } from '../api/object-lock-document.ts';
import { useBucketLock, useSetBucketLock } from '../api/object-properties.ts';
import { Loaded, Section } from '../components/detail-page.tsx';
import { notifyDone, notifyFailure } from '../components/feedback.tsx';
import { ConfirmDialog, FormError, RemoveDialog } from '../components/form-dialog.tsx';
import { NameText } from '../components/name-text.tsx';
import { EditButton, SaveButtons } from '../components/edit-buttons.tsx';
import { useVersioning, type BucketVersioning } from '../api/versioning.ts';
import { useSetVersioning } from './settings-queries.ts';
import { isSame } from '../text/element-form.ts';
import { formatExactTime } from '../text/format.ts';
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

interface RetentionChoice {
  /** The settings that the form was filled with. */
  readonly from: BucketLock;
  readonly mode: string;
  readonly count: string;
  readonly unit: string;
}

/** Returns the object lock with what the form has. */
function lockOf({ from: { element }, mode, count, unit }: RetentionChoice): BucketLock {
  if (mode !== 'GOVERNANCE' && mode !== 'COMPLIANCE')
    return { mode: undefined, days: undefined, years: undefined, element };
  return {
    mode,
    days: unit === 'years' ? undefined : Number(count),
    years: unit === 'years' ? Number(count) : undefined,
    element,
  };
}

/** The end of the retention of a version that is stored now; undefined for a period that the server refuses. A year has 365 days, as in S3. */
function endOf({ days = 0, years = 0 }: BucketLock): string | undefined {
  const end = new Date(Date.now() + (days + 365 * years) * 86_400_000);
  return Number.isNaN(end.getTime()) ? undefined : end.toISOString();
}

/** The default retention of a bucket with object lock. */
export function DefaultRetention({ bucket, mayEdit }: SectionProps) {
  const lock = useBucketLock(bucket, true);
  const set = useSetBucketLock(bucket);
  const [edited, setEdited] = useDraft<RetentionChoice | undefined>('retention', undefined);
  // The end of the retention of a version that is stored now.
  const [asking, setAsking] = useState<string>();
  if (lock.data === null) {
    return (
      <Section title={t.bucketSettings.objectLock}>
        <Text size="sm" c="dimmed">
          {t.bucketSettings.offItCanBeTurnedOnWhen}
        </Text>
      </Section>
    );
  }

  function edit(from: BucketLock): void {
    const { mode, days, years } = from;
    setEdited({
      from,
      mode: mode ?? 'none',
      count: String(years ?? days ?? 30),
      unit: years === undefined ? 'days' : 'years',
    });
  }

  function end(): void {
    set.reset();
    setAsking(undefined);
    setEdited(undefined);
  }

  /** Sends what the user changed. COMPLIANCE is asked for once more first. */
  function save(asked: boolean): void {
    if (edited === undefined) return;
    const next = lockOf(edited);
    const until = endOf(next);
    if (isSame(next, edited.from)) end();
    else if (next.mode === 'COMPLIANCE' && !asked && until !== undefined) setAsking(until);
    else {
      set.mutate(next, {
        onSuccess: () => {
          end();
          notifyDone(t.bucketSettings.theDefaultRetentionIsSaved);
        },
      });
    }
  }

  return (
    <Section
      title={t.bucketSettings.objectLock}
      words={t.bucketSettings.theRetentionOfEachNewVersionThat}
      action={
        mayEdit &&
        edited === undefined &&
        lock.isSuccess && (
          <EditButton label={t.bucketSettings.editTheDefaultRetention} onClick={() => lock.data && edit(lock.data)} />
        )
      }
    >
      {edited === undefined ? (
        <Loaded what={t.bucketSettings.theObjectLockCannotBeShown} query={lock}>
          {(shown) => shown !== null && <Text size="sm">{sentence(shown)}</Text>}
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
          {asking === undefined && <FormError error={set.error} />}
          <SaveButtons pending={set.isPending} onSave={() => save(false)} onCancel={end} />
        </Stack>
      )}
      {asking !== undefined && (
        <ConfirmDialog
          title={t.objectDetails.setCompliance}
          submit={t.objectDetails.setComplianceWord}
          pending={set.isPending}
          error={set.error}
          onConfirm={() => save(true)}
          onClose={() => setAsking(undefined)}
        >
          {say(t.bucketSettings.aVersionThatIsStoredNow, { time: formatExactTime(asking) })}
        </ConfirmDialog>
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
