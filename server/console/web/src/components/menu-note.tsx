import { Menu, Text } from '@mantine/core';

/** The text of a menu without items: while the rights are asked for, and where nothing is allowed. */
export function MenuNote({ known }: { readonly known: boolean }) {
  if (!known) return <Menu.Label>Asking what you may do…</Menu.Label>;
  return (
    <Menu.Label>
      <Text size="xs" maw={220}>
        Your policies allow nothing more here.
      </Text>
    </Menu.Label>
  );
}
