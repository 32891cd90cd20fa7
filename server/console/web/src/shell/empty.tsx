import { Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

interface EmptyProps {
  readonly icon: ReactNode;
  readonly title: string;
  readonly children: ReactNode;
}

/** In place of a list with nothing in it: what it is for, and how to begin. */
export function Empty({ icon, title, children }: EmptyProps) {
  return (
    <Stack align="center" gap={6} py={56} px="md">
      <Text c="dimmed" component="div" mb={4}>
        {icon}
      </Text>
      <Title order={2} ta="center">
        {title}
      </Title>
      <Text size="sm" c="dimmed" ta="center" maw={440} component="div">
        {children}
      </Text>
    </Stack>
  );
}
