import { Kbd, Modal, Text } from '@mantine/core';
import { useRestoreFocus } from './kept-focus.ts';
import { t } from '../texts/texts.ts';

const shortcuts: readonly (readonly [keys: readonly string[], does: string])[] = [
  [['?'], t.components.showsTheseKeys],
  [['/'], t.components.goesToTheSearchOrTheFilter],
  [[t.components.tab], t.components.goesToTheNextControlTheFirst],
  [[t.components.enter], t.components.opensARowSendsAForm],
  [[t.components.space], t.components.marksARowTurnsASwitch],
  [['↑', '↓'], t.components.goThroughAMenuOrAList],
  [[t.components.esc], t.components.closesADialogAMenuOrThe],
];

/** Lists the keys of the console. */
export function ShortcutsDialog({ onClose }: { readonly onClose: () => void }) {
  useRestoreFocus();
  return (
    <Modal opened onClose={onClose} title={t.components.keys}>
      <dl className="facts">
        {shortcuts.map(([keys, does]) => (
          <div key={does} style={{ display: 'contents' }}>
            <dt>
              {keys.map((key) => (
                <Kbd key={key} mr={4}>
                  {key}
                </Kbd>
              ))}
            </dt>
            <dd>
              <Text size="sm">{does}</Text>
            </dd>
          </div>
        ))}
      </dl>
    </Modal>
  );
}
