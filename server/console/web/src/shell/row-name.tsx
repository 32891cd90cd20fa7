import { Text } from '@mantine/core';
import type { TablerIcon } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Link } from 'react-router';

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
