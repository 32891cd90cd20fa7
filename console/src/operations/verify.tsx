import { Button, Group, Stack, Switch, Text } from '@mantine/core';
import { useState } from 'react';
import { admin } from '../api/admin.ts';
import { useApiMutation } from '../api/queries.ts';
import { Failure } from '../components/feedback.tsx';
import { NameText } from '../components/name-text.tsx';
import { RowTable } from '../components/row-table.tsx';
import { formatBytes } from '../text/format.ts';
import { listed, say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

interface Finding {
  readonly kind: string;
  readonly message: string;
  readonly bucket?: string;
  readonly key?: string;
  readonly versionId?: string;
  readonly uploadId?: string;
  readonly blob?: string;
  readonly record?: string;
}

interface Summary {
  readonly objects: number;
  readonly versions: number;
  readonly uploads: number;
  readonly blobs: number;
  readonly bytes: number;
  /** False where records may be missing without a trace. */
  readonly counted: boolean;
}

interface Verification {
  readonly findings: readonly Finding[];
  /** There are more findings than the answer has. */
  readonly more: boolean;
  readonly summary: Summary;
}

const kinds: Readonly<Record<string, { readonly words: string; readonly isLoss: boolean }>> = {
  'missing-body': { words: t.work.missingBody, isLoss: true },
  'damaged-body': { words: t.work.damagedBody, isLoss: true },
  'unreadable-body': { words: t.work.unreadableBody, isLoss: false },
  'quarantined-object': { words: t.work.quarantinedThoughWhole, isLoss: false },
  'lost-object': { words: t.work.lostObject, isLoss: true },
  'mismatched-stores': { words: t.work.mismatchedStores, isLoss: true },
  'lost-records': { words: t.work.lostRecords, isLoss: true },
  'unreadable-record': { words: t.work.unreadableRecord, isLoss: true },
  'unowned-blob': { words: t.work.bodyWithoutItsOwnerRecord, isLoss: false },
  'block-sums': { words: t.work.wrongBlockChecksums, isLoss: false },
  'inconsistent-versions': { words: t.work.contradictoryVersions, isLoss: false },
  'orphan-blob': { words: t.work.bodyThatNothingRefersTo, isLoss: false },
  'stray-record': { words: t.work.recordThatNothingUses, isLoss: false },
};

/** Findings that the page shows. */
const maxShown = 100;

/** Verifies the store, and shows what was checked and what is wrong. */
export function Verify() {
  const [bodies, setBodies] = useState(false);
  const verify = useApiMutation(
    () => admin<Verification>('POST', 'coffer/verify', { query: { bodies: String(bodies) } }),
    [],
  );
  return (
    <Stack gap="xs" align="flex-start">
      <Group gap="md">
        <Button variant="default" loading={verify.isPending} onClick={() => verify.mutate()}>
          {t.work.verifyTheStore}
        </Button>
        <Switch
          label={t.work.bodiesTooWhichReadsEverything}
          checked={bodies}
          onChange={(event) => setBodies(event.currentTarget.checked)}
        />
      </Group>
      {verify.isError && <Failure what={t.work.theStoreWasNotVerified} error={verify.error} />}
      {verify.data !== undefined && <Verified verification={verify.data} />}
    </Stack>
  );
}

function Verified({ verification: { findings, more, summary } }: { readonly verification: Verification }) {
  const count = findings.length;
  const verdict =
    count === 0
      ? summary.counted
        ? t.work.nothingIsWrong
        : t.work.missingRecordsUntold
      : more
        ? say(t.work.findings, { findings: count })
        : say(t.work.findingsFindings, { findings: count });
  return (
    <>
      <Text size="sm" role="status">
        {verdict} {say(t.work.checked, { what: checkedWords(summary) })}
      </Text>
      {count > 0 && (
        <RowTable
          rows={findings.slice(0, maxShown)}
          rowKey={(finding) => JSON.stringify(finding)}
          columns={[
            { head: t.labels.kind, cell: (finding) => <Kind finding={finding} /> },
            { head: t.work.finding, cell: (finding) => <FindingCell finding={finding} /> },
          ]}
        />
      )}
      {count > maxShown && (
        <Text size="sm" c="dimmed">
          {say(t.work.theFirstAreShown, { maxShown })}
        </Text>
      )}
    </>
  );
}

/** Lists what was checked: the objects, and all else of which there is something. */
function checkedWords({ objects, versions, uploads, blobs, bytes }: Summary): string {
  return listed(
    [
      say(t.work.objectsChecked, { objects }),
      ...(versions > 0 ? [say(t.work.versionsChecked, { versions })] : []),
      ...(uploads > 0 ? [say(t.work.uploadsChecked, { uploads })] : []),
      ...(blobs > 0 ? [say(t.work.bodiesChecked, { blobs })] : []),
      ...(bytes > 0 ? [say(t.work.bytesRead, { bytes: formatBytes(bytes) })] : []),
    ],
    'and',
  );
}

function Kind({ finding: { kind } }: { readonly finding: Finding }) {
  const { words, isLoss } = kinds[kind] ?? { words: kind, isLoss: false };
  return (
    <Text size="sm" fw={isLoss ? 600 : undefined} c={isLoss ? 'var(--mantine-color-error)' : undefined}>
      {words}
    </Text>
  );
}

function FindingCell({ finding }: { readonly finding: Finding }) {
  const { bucket, key, versionId, uploadId, blob, record, kind, message } = finding;
  const place = [
    ...(versionId === undefined ? [] : [say(t.work.versionOf, { versionId })]),
    ...(uploadId === undefined ? [] : [say(t.work.uploadOf, { uploadId })]),
    ...(blob === undefined ? [] : [say(t.work.bodyOf, { blob })]),
    ...(record === undefined ? [] : [say(t.work.recordOf, { record })]),
  ];
  return (
    <Stack gap={2} style={{ overflowWrap: 'anywhere' }}>
      {bucket !== undefined && (
        <Text size="sm">
          <NameText name={key === undefined ? bucket : `${bucket}/${key}`} max={120} />
        </Text>
      )}
      {place.length > 0 && (
        <Text size="xs" c="dimmed">
          {place.join(' · ')}
        </Text>
      )}
      <Text size="xs" c="dimmed" lang="en">
        {message}
      </Text>
      {kind === 'unreadable-body' && (
        <Text size="xs" c="dimmed">
          {t.work.theStoreCouldNotReadItWhich}
        </Text>
      )}
    </Stack>
  );
}
