import { Alert, Button, Group, List, Modal, Stack, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { objectsChanged } from '../../api/changes.ts';
import { useRestoreFocus } from '../../components/kept-focus.ts';
import { formatExactTime } from '../../text/format.ts';
import type { Row } from '../rows/rows.ts';
import { nothingRestored, restoreAt, type Restored } from './restore-at.ts';
import { say } from '../../texts/say.ts';
import { t } from '../../texts/texts.ts';

interface RewindDialogProps {
  readonly bucket: string;
  readonly rows: readonly Row[];
  readonly at: Date;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

type State = { readonly kind: 'asks' | 'runs' | 'ended' } | { readonly kind: 'failed'; readonly error: Error };

/** Restores what is marked as it was at a moment. It stops when the dialog is closed. */
export function RewindDialog({ bucket, rows, at, onDone, onClose }: RewindDialogProps) {
  useRestoreFocus();
  const [state, setState] = useState<State>({ kind: 'asks' });
  const [done, setDone] = useState<Restored>(nothingRestored);
  const [abort] = useState(() => new AbortController());
  useEffect(() => () => abort.abort(), [abort]);

  const folders = rows.flatMap((row) => (row.kind === 'folder' ? [row.key] : []));
  const versions = rows.flatMap((row) => (row.kind === 'version' ? [row.version] : []));

  async function run(): Promise<void> {
    setState({ kind: 'runs' });
    try {
      const moment = at.getTime();
      await restoreAt({ bucket, versions, folders, moment, signal: abort.signal, onProgress: setDone });
      setState({ kind: 'ended' });
    } catch (error) {
      if (!abort.signal.aborted && error instanceof Error) setState({ kind: 'failed', error });
    } finally {
      objectsChanged(bucket);
    }
  }

  function close(): void {
    if (state.kind !== 'asks') onDone();
    onClose();
  }

  const running = state.kind === 'runs';
  return (
    <Modal opened onClose={close} title={t.objects.restoreAsItWas} closeOnClickOutside={!running}>
      <Stack gap="md">
        <Text size="sm">
          {say(t.objects.asOfEachObjectGetsANew, {
            names: namesOf(rows),
            time: formatExactTime(at.toISOString()),
          })}
        </Text>
        {state.kind !== 'asks' && (
          <Text size="sm" role="status">
            {say(t.objects.restoredStillAsTheyWereFailed, {
              restored: done.restored,
              unchanged: done.unchanged,
              failed: done.failed,
            })}
          </Text>
        )}
        {state.kind === 'failed' && (
          <Alert color="red" role="alert">
            {state.error.message}
          </Alert>
        )}
        {done.failures.length > 0 && (
          <List size="sm" listStyleType="none">
            {done.failures.map(({ key, message }) => (
              <List.Item key={key} style={{ overflowWrap: 'anywhere' }}>
                <span className="mono">{key}</span>: {message}
              </List.Item>
            ))}
          </List>
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={close} data-autofocus>
            {state.kind === 'asks' ? t.labels.cancel : running ? t.objects.stop : t.labels.close}
          </Button>
          {(state.kind === 'asks' || running) && (
            <Button loading={running} onClick={() => void run()}>
              {t.objects.restore}
            </Button>
          )}
        </Group>
      </Stack>
    </Modal>
  );
}

function namesOf(rows: readonly Row[]): string {
  const [first] = rows;
  return rows.length === 1 && first !== undefined ? first.key : say(t.objects.entriesRows, { rows: rows.length });
}
