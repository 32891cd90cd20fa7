import { Kbd, Modal, Text } from '@mantine/core';
import { useRestoreFocus } from './form-dialog.tsx';

const shortcuts: readonly (readonly [keys: readonly string[], does: string])[] = [
  [['?'], 'shows these keys'],
  [['/'], 'goes to the search or the filter of the page'],
  [['Tab'], 'goes to the next control; the first one skips the menu'],
  [['Enter'], 'opens a row, sends a form'],
  [['Space'], 'marks a row, turns a switch'],
  [['↑', '↓'], 'go through a menu or a list of choices'],
  [['Esc'], 'closes a dialog, a menu or the panel of an object'],
];

/** Lists the keys of the console. */
export function ShortcutsDialog({ onClose }: { readonly onClose: () => void }) {
  useRestoreFocus();
  return (
    <Modal opened onClose={onClose} title="Keys">
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
