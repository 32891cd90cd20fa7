import { Button, Group, Stack, Text } from '@mantine/core';
import { IconEye } from '@tabler/icons-react';
import { Fragment } from 'react';
import type { LifecyclePreview, PreviewCounts } from '../../../../protocol/console/reach-answers.ts';
import { useLifecyclePreview } from '../../api/reach.ts';
import { FormError } from '../../components/form-dialog.tsx';
import { NameText } from '../../components/name-text.tsx';
import { formatBytes } from '../../text/format.ts';
import { lifecycleDocument, type Rule } from './lifecycle-rules.ts';
import { listed, rich, say } from '../../texts/say.ts';
import { t } from '../../texts/texts.ts';

interface PreviewProps {
  readonly bucket: string;
  readonly rule: Rule;
  /** Why the rule cannot be asked about; undefined if it can. */
  readonly issue: string | undefined;
}

/** A button that asks the server what a rule would remove. */
export function LifecyclePreviewBox({ bucket, rule, issue }: PreviewProps) {
  const preview = useLifecyclePreview(bucket);
  const document = issue === undefined ? lifecycleDocument([{ ...rule, enabled: true }]) : undefined;
  const isCurrent = preview.variables === document;
  return (
    <Stack gap="xs">
      <Group>
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<IconEye size={14} />}
          disabled={document === undefined}
          loading={preview.isPending}
          onClick={() => document !== undefined && preview.mutate(document)}
        >
          {t.lifecycle.whatWouldItTouch}
        </Button>
      </Group>
      {isCurrent && <FormError error={preview.error} />}
      <div aria-live="polite">{isCurrent && preview.isSuccess && <Result preview={preview.data} />}</div>
    </Stack>
  );
}

function Result({
  preview: { due, later, examples, read, complete, ignoresTags },
}: {
  readonly preview: LifecyclePreview;
}) {
  const notes = [
    ...(complete ? [] : [say(t.lifecycle.theFirstVersionsWereReadThereAre, { read })]),
    ...(ignoresTags ? [t.lifecycle.tagsWereNotReadObjectsWithOther] : []),
  ];
  return (
    <Stack gap={4}>
      <Text size="sm">{say(t.lifecycle.withTheNextRun, { due: countsSentence(due) })}</Text>
      <Text size="sm">{say(t.lifecycle.laterIfNothingChanges, { later: countsSentence(later) })}</Text>
      {examples.length > 0 && (
        <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {rich(t.lifecycle.forExample, {
            examples: examples.map(({ key }, index) => (
              <Fragment key={index}>
                {index === 0 ? '' : ', '}
                <NameText name={key} />
              </Fragment>
            )),
          })}
        </Text>
      )}
      {notes.map((note) => (
        <Text size="xs" c="dimmed" key={note}>
          {note}
        </Text>
      ))}
    </Stack>
  );
}

/** Describes counts, for example `2 objects and 1 old version, 3.1 MiB`. */
function countsSentence({ objects, versions, markers, uploads, bytes }: PreviewCounts): string {
  const parts = [
    objects > 0 && say(t.lifecycle.objects, { objects }),
    versions > 0 && say(t.lifecycle.oldVersions, { versions }),
    markers > 0 && say(t.lifecycle.deleteMarkers, { markers }),
    uploads > 0 && say(t.lifecycle.unfinishedUploads, { uploads }),
  ].filter((part) => part !== false);
  if (parts.length === 0) return t.lifecycle.nothing;
  return bytes === 0 ? listed(parts, 'and') : `${listed(parts, 'and')}, ${formatBytes(bytes)}`;
}
