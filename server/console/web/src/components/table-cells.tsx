import { Text, Anchor, Group, Badge } from '@mantine/core';
import type { TablerIcon } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { formatExactTime, formatTime } from '../text/format.ts';

interface RowNameProps {
  readonly name: string;
  readonly icon: TablerIcon;
  /** Undefined where the person may not go there. */
  readonly to: string | undefined;
  /** Beside the name. */
  readonly children?: ReactNode;
}

/** The first cell of a row: what it is called, and the way to its page. */
export function RowName({ name, icon: Icon, to, children }: RowNameProps) {
  if (to === undefined) {
    return (
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {name}
      </Text>
    );
  }
  return (
    <Link className="row-name" to={to}>
      <Icon size={18} stroke={1.5} className="row-icon" aria-hidden />
      <span>{name}</span>
      {children}
    </Link>
  );
}

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

/** A moment beside other things; to the millisecond where one points at it. */
export function TimeText({ at }: { readonly at: string }) {
  return (
    <Text size="sm" c="dimmed" component="time" dateTime={at} title={formatExactTime(at)}>
      {formatTime(at)}
    </Text>
  );
}

const statusColors = { enabled: 'patina', disabled: 'gray', expired: 'yellow' } as const;

export function StatusBadge({ status }: { readonly status: keyof typeof statusColors }) {
  return <Badge color={statusColors[status]}>{status}</Badge>;
}
