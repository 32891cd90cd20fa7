import { ActionIcon, Button, Group, Stack, TextInput } from '@mantine/core';
import { IconPlus, IconX } from '@tabler/icons-react';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

export interface EditedPair {
  readonly name: string;
  readonly value: string;
}

interface PairEditorProps {
  /** The label of the button, for example `Add a tag`. */
  readonly add: string;
  readonly pairs: readonly EditedPair[];
  readonly onChange: (pairs: readonly EditedPair[]) => void;
  readonly max: number;
}

/** Edits names with values: tags or metadata. */
export function PairEditor({ add, pairs, onChange, max }: PairEditorProps) {
  const set = (at: number, change: Partial<EditedPair>) =>
    onChange(pairs.map((pair, index) => (index === at ? { ...pair, ...change } : pair)));
  return (
    <Stack gap={6}>
      {pairs.map(({ name, value }, index) => (
        <Group key={index} gap={6} wrap="nowrap">
          <TextInput
            flex={1}
            size="xs"
            aria-label={say(t.components.name, { index: index + 1 })}
            placeholder={t.components.nameWord}
            spellCheck={false}
            value={name}
            onChange={(event) => set(index, { name: event.currentTarget.value })}
          />
          <TextInput
            flex={1}
            size="xs"
            aria-label={say(t.components.value, { index: index + 1 })}
            placeholder={t.components.valueWord}
            spellCheck={false}
            value={value}
            onChange={(event) => set(index, { value: event.currentTarget.value })}
          />
          <ActionIcon
            size="sm"
            aria-label={say(t.components.remove, { index: index + 1 })}
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
          className="flush"
          leftSection={<IconPlus size={13} />}
          onClick={() => onChange([...pairs, { name: '', value: '' }])}
          style={{ alignSelf: 'flex-start' }}
        >
          {add}
        </Button>
      )}
    </Stack>
  );
}
