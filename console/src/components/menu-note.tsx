import { Menu, Text } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { t } from '../texts/texts.ts';

/** The text of a menu without items: while the rights are asked for, and where nothing is allowed. */
export function MenuNote({ known }: { readonly known: boolean }) {
  if (!known) return <AskingNote />;
  return (
    <Menu.Label>
      <Text size="xs" maw={220}>
        {t.components.yourPoliciesAllowNothingMoreHere}
      </Text>
    </Menu.Label>
  );
}

/** The menu itself has the focus as long as it has no items. The first one takes it. */
function AskingNote() {
  const note = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const menu = note.current?.closest('[role=menu]');
    return () => {
      if (document.activeElement === menu) menu?.querySelector<HTMLElement>('[role=menuitem]')?.focus();
    };
  }, []);
  return <Menu.Label ref={note}>{t.components.askingWhatYouMayDo}</Menu.Label>;
}
