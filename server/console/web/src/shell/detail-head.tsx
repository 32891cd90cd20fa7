import { Group, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { Link } from 'react-router';

interface DetailHeadProps {
  /** The list that it belongs to. */
  readonly parent: { readonly name: string; readonly to: string };
  readonly name: string;
  readonly badge?: ReactNode;
  readonly actions?: ReactNode;
}

/** Over a page about one thing: the way back, its name, and what can be done with it. */
export function DetailHead({ parent, name, badge, actions }: DetailHeadProps) {
  useDocumentTitle(`${name} · Coffer`);
  return (
    <Group justify="space-between" align="flex-start" mih={36}>
      <Group gap="sm" miw={0}>
        <nav className="crumbs" aria-label="Place">
          <Link to={parent.to}>{parent.name}</Link>
          <span className="slash" aria-hidden>
            /
          </span>
          <Title order={1} fz="lg" style={{ overflowWrap: 'anywhere' }}>
            {name}
          </Title>
        </nav>
        {badge}
      </Group>
      <Group gap="xs">{actions}</Group>
    </Group>
  );
}
