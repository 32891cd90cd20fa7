import { Badge } from '@mantine/core';

const colours = { enabled: 'patina', disabled: 'gray', expired: 'yellow' } as const;

export function StatusBadge({ status }: { readonly status: keyof typeof colours }) {
  return <Badge color={colours[status]}>{status}</Badge>;
}
