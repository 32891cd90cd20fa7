import { Menu, Text } from '@mantine/core';
import { t } from '../texts/texts.ts';

/** The text of a menu without items: while the rights are asked for, and where nothing is allowed. */
export function MenuNote({ known }: { readonly known: boolean }) {
  if (!known) return <Menu.Label>{t.components.askingWhatYouMayDo}</Menu.Label>;
  return (
    <Menu.Label>
      <Text size="xs" maw={220}>
        {t.components.yourPoliciesAllowNothingMoreHere}
      </Text>
    </Menu.Label>
  );
}
