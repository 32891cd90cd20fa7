import { ActionIcon, Button, Group, Stack, TextInput } from '@mantine/core';
import { IconPlus, IconX } from '@tabler/icons-react';

export interface EditedPair {
  readonly name: string;
  readonly value: string;
}

interface PairEditorProps {
  /** For example `tag`. */
  readonly one: string;
  readonly pairs: readonly EditedPair[];
  readonly onChange: (pairs: readonly EditedPair[]) => void;
  readonly max: number;
}

/** Edits names with values: tags or metadata. */
export function PairEditor({ one, pairs, onChange, max }: PairEditorProps) {
  const set = (at: number, change: Partial<EditedPair>) =>
    onChange(pairs.map((pair, index) => (index === at ? { ...pair, ...change } : pair)));
  return (
    <Stack gap={6}>
      {pairs.map(({ name, value }, index) => (
        <Group key={index} gap={6} wrap="nowrap">
          <TextInput
            flex={1}
            size="xs"
            aria-label={`Name of ${one} ${index + 1}`}
            placeholder="name"
            spellCheck={false}
            value={name}
            onChange={(event) => set(index, { name: event.currentTarget.value })}
          />
          <TextInput
            flex={1}
            size="xs"
            aria-label={`Value of ${one} ${index + 1}`}
            placeholder="value"
            spellCheck={false}
            value={value}
            onChange={(event) => set(index, { value: event.currentTarget.value })}
          />
          <ActionIcon
            size="sm"
            aria-label={`Remove ${one} ${index + 1}`}
            onClick={() => onChange(pairs.filter((_, at) => at !== index))}
          >
            <IconX size={14} />
          </ActionIcon>
        </Group>
      ))}
      {pairs.length < max && (
        <Button
          size="compact-xs"
          variant="subtle"
          leftSection={<IconPlus size={13} />}
          onClick={() => onChange([...pairs, { name: '', value: '' }])}
          style={{ alignSelf: 'flex-start' }}
        >
          Add a {one}
        </Button>
      )}
    </Stack>
  );
}
