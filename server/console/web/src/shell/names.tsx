import { Anchor, Group, Text } from '@mantine/core';
import { Link } from 'react-router';

interface NamesProps {
  readonly names: readonly string[];
  /** Where a name leads; plain text where the person may not go there. */
  readonly to?: ((name: string) => string) | undefined;
}

/** Long ones leave the other columns of a narrow window their place. */
const anywhere = { overflowWrap: 'anywhere' } as const;

/** A short list of names in a row. */
export function Names({ names, to }: NamesProps) {
  if (names.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        none
      </Text>
    );
  }
  return (
    <Group gap={8}>
      {names.map((name) =>
        to === undefined ? (
          <Text key={name} size="sm" span style={anywhere}>
            {name}
          </Text>
        ) : (
          <Anchor key={name} component={Link} to={to(name)} size="sm" style={anywhere}>
            {name}
          </Anchor>
        ),
      )}
    </Group>
  );
}
