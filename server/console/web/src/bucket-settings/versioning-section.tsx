import { Badge, Group, Select, Stack, Switch, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useBucketLock, useSetBucketLock, type BucketLock } from '../api/object-properties.ts';
import { Loaded, Section } from '../components/detail-page.tsx';
import { notifyDone, notifyFailure } from '../components/feedback.tsx';
import { FormError } from '../components/form-dialog.tsx';
import { EditButton, SaveButtons } from '../components/edit-buttons.tsx';
import { useSetVersioning, useVersioning } from './settings-queries.ts';

interface SectionProps {
  readonly bucket: string;
  readonly mayEdit: boolean;
}

const words = {
  Enabled: 'Each change of an object keeps what was there before as an older version.',
  Suspended: 'New changes keep no versions. The versions that are there stay.',
  Off: 'A change of an object replaces what was there.',
} as const;

export function VersioningSection({ bucket, mayEdit }: SectionProps) {
  const versioning = useVersioning(bucket);
  const set = useSetVersioning(bucket);

  function change(on: boolean): void {
    set.mutate(on ? 'Enabled' : 'Suspended', {
      onSuccess: () => notifyDone(on ? 'Versioning is on.' : 'Versioning is suspended.'),
      onError: (error) => notifyFailure('Versioning stays as it is', error),
    });
  }

  return (
    <Section title="Versioning">
      <Loaded name="The versioning" query={versioning}>
        {(status) =>
          mayEdit ? (
            <Switch
              label="Keep versions"
              description={words[status]}
              checked={status === 'Enabled'}
              disabled={set.isPending}
              onChange={(event) => change(event.currentTarget.checked)}
            />
          ) : (
            <Group gap="xs">
              <Badge>{status}</Badge>
              <Text size="sm">{words[status]}</Text>
            </Group>
          )
        }
      </Loaded>
    </Section>
  );
}

/** The default retention of a bucket with object lock. */
export function DefaultRetention({ bucket, mayEdit }: SectionProps) {
  const lock = useBucketLock(bucket, true);
  const set = useSetBucketLock(bucket);
  const [edited, setEdited] = useState<{ mode: string; count: string; unit: string }>();
  if (lock.data === null) {
    return (
      <Section title="Object lock">
        <Text size="sm" c="dimmed">
          Off. It can be turned on when a bucket is created, or by an S3 client in a bucket with versioning.
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
        notifyDone('The default retention is saved.');
      },
    });
  }

  return (
    <Section
      title="Object lock"
      words="The retention of each new version that its upload gives none."
      action={
        mayEdit &&
        edited === undefined &&
        lock.isSuccess && <EditButton label="Edit the default retention" onClick={() => edit(lock.data ?? {})} />
      }
    >
      {edited === undefined ? (
        <Loaded name="The object lock" query={lock}>
          {(shown) => <Text size="sm">{sentence(shown ?? {})}</Text>}
        </Loaded>
      ) : (
        <Stack gap="sm">
          <Select
            label="Mode"
            allowDeselect={false}
            data={[
              { value: 'none', label: 'No default retention' },
              { value: 'GOVERNANCE', label: 'GOVERNANCE: a special right can end it' },
              { value: 'COMPLIANCE', label: 'COMPLIANCE: no user can end it' },
            ]}
            value={edited.mode}
            onChange={(mode) => setEdited({ ...edited, mode: mode ?? 'none' })}
          />
          {edited.mode !== 'none' && (
            <Group gap="xs" align="flex-end">
              <TextInput
                label="For"
                type="number"
                min={1}
                w={100}
                value={edited.count}
                onChange={(event) => setEdited({ ...edited, count: event.currentTarget.value })}
              />
              <Select
                aria-label="Unit"
                w={120}
                allowDeselect={false}
                data={['days', 'years']}
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
  if (mode === undefined) return 'On, without a default retention.';
  const [count, unit] = years === undefined ? [days ?? 0, 'day'] : [years, 'year'];
  return `New versions are kept for ${count} ${unit}${count === 1 ? '' : 's'} in the mode ${mode}.`;
}
