import { Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

interface EmptyProps {
  readonly icon: ReactNode;
  readonly title: string;
  /** 1 where it stands in place of a page. */
  readonly order?: 1 | 2;
  readonly children: ReactNode;
}

/** In place of a list with nothing in it: what it is for, and how to begin. */
export function Empty({ icon, title, order = 2, children }: EmptyProps) {
  return (
    <Stack align="center" gap={6} py={56} px="md">
      <Text c="dimmed" component="div" mb={4}>
        {icon}
      </Text>
      <Title order={order} ta="center">
        {title}
      </Title>
      <Text size="sm" c="dimmed" ta="center" maw={440} component="div">
        {children}
      </Text>
    </Stack>
  );
}
