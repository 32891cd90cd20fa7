import { List, Text } from '@mantine/core';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

interface UnknownFieldsProps {
  /** The names and values, for example `Filter/Tag: team, red`. */
  readonly parts: readonly string[];
}

/** Shows what a form has no field for, and keeps. */
export function UnknownFields({ parts }: UnknownFieldsProps) {
  if (parts.length === 0) return null;
  return (
    <div>
      <Text size="xs" c="dimmed">
        {say(t.components.fieldsThatThisFormDoesNotEdit, { count: parts.length })}
      </Text>
      <List size="xs" c="dimmed">
        {parts.map((part, index) => (
          <List.Item key={index} style={{ overflowWrap: 'anywhere' }}>
            {part}
          </List.Item>
        ))}
      </List>
    </div>
  );
}
