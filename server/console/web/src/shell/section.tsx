import { Group, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

interface SectionProps {
  readonly title: string;
  readonly words?: string;
  readonly action?: ReactNode;
  readonly children: ReactNode;
}

/** A part of a page under a heading of its own. */
export function Section({ title, words, action, children }: SectionProps) {
  return (
    <section aria-label={title}>
      <Group justify="space-between" mb={words === undefined ? 'sm' : 4}>
        <Title order={2}>{title}</Title>
        {action}
      </Group>
      {words !== undefined && (
        <Text size="sm" c="dimmed" mb="sm">
          {words}
        </Text>
      )}
      {children}
    </section>
  );
}
