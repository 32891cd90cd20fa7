import { Button, Group, Stack, Text } from '@mantine/core';
import { IconEye } from '@tabler/icons-react';
import type { LifecyclePreview, PreviewCounts } from '../../../../contract/reach-answers.ts';
import { useLifecyclePreview } from '../../api/reach.ts';
import { FormError } from '../../components/form-dialog.tsx';
import { formatBytes } from '../../text/format.ts';
import { lifecycleDocument, type Rule } from './lifecycle-rules.ts';

interface PreviewProps {
  readonly bucket: string;
  readonly rule: Rule;
  /** Why the rule cannot be asked about; undefined if it can. */
  readonly problem: string | undefined;
}

/** A button that asks the server what a rule would remove. */
export function LifecyclePreviewBox({ bucket, rule, problem }: PreviewProps) {
  const preview = useLifecyclePreview(bucket);
  const document = problem === undefined ? lifecycleDocument([rule.enabled ? rule : on(rule)]) : undefined;
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
          What would it touch?
        </Button>
      </Group>
      {isCurrent && <FormError error={preview.error} />}
      <div aria-live="polite">{isCurrent && preview.isSuccess && <Result preview={preview.data} />}</div>
    </Stack>
  );
}

function on(rule: Rule): Rule {
  return rule.kind === 'simple' ? { ...rule, enabled: true } : rule;
}

function Result({
  preview: { due, later, examples, read, complete, ignoresTags },
}: {
  readonly preview: LifecyclePreview;
}) {
  const notes = [
    ...(complete ? [] : [`The first ${read.toLocaleString()} versions were read: there are more.`]),
    ...(ignoresTags ? ['Tags were not read: objects with other tags are counted too.'] : []),
  ];
  return (
    <Stack gap={4}>
      <Text size="sm">With the next run: {countsSentence(due)}.</Text>
      <Text size="sm">Later, if nothing changes: {countsSentence(later)}.</Text>
      {examples.length > 0 && (
        <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          For example {examples.map(({ key }) => key).join(', ')}
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
export function countsSentence({ objects, versions, markers, uploads, bytes }: PreviewCounts): string {
  const parts = [
    counted(objects, 'object'),
    counted(versions, 'old version'),
    counted(markers, 'delete marker'),
    counted(uploads, 'unfinished upload'),
  ].filter((part) => part !== undefined);
  if (parts.length === 0) return 'nothing';
  const listed = parts.length === 1 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1) ?? ''}`;
  return bytes === 0 ? listed : `${listed}, ${formatBytes(bytes)}`;
}

function counted(count: number, what: string): string | undefined {
  if (count === 0) return undefined;
  return `${count.toLocaleString()} ${what}${count === 1 ? '' : 's'}`;
}
