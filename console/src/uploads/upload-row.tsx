import { ActionIcon, Button, Group, Progress, Text } from '@mantine/core';
import { IconCheck, IconPlayerPause, IconPlayerPlay, IconRefresh, IconX } from '@tabler/icons-react';
import { memo } from 'react';
import { FittedName } from '../components/name-text.tsx';
import { formatBytes } from '../text/format.ts';
import { isUnderWay, type Upload } from './upload-queue.ts';
import { uploads } from './uploads.ts';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

/** A change of one upload renders its own row only. */
export const UploadRow = memo(function UploadRow({ upload }: { readonly upload: Upload }) {
  const { id, key, size, sent, state } = upload;
  const name = key.split('/').at(-1) ?? key;
  return (
    <div>
      <Group justify="space-between" wrap="nowrap" gap="xs" mih={28}>
        <Text size="sm" className="one-line" title={`${upload.bucket}/${key}`}>
          <FittedName name={name} />
        </Text>
        <Group gap={6} wrap="nowrap">
          <Text size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
            {state.kind === 'sending'
              ? say(t.uploads.ofSentSize, { sent: formatBytes(sent), size: formatBytes(size) })
              : label(upload)}
          </Text>
          {state.kind === 'done' && <IconCheck size={16} color="var(--coffer-accent)" aria-hidden />}
          {isUnderWay(upload) && (
            <ActionIcon size="sm" aria-label={say(t.uploads.pause, { key })} onClick={() => uploads.pause(id)}>
              <IconPlayerPause size={14} />
            </ActionIcon>
          )}
          {state.kind === 'paused' && (
            <ActionIcon size="sm" aria-label={say(t.uploads.resume, { key })} onClick={() => uploads.resume(id)}>
              <IconPlayerPlay size={14} />
            </ActionIcon>
          )}
          {(isUnderWay(upload) || state.kind === 'paused') && (
            <ActionIcon size="sm" aria-label={say(t.uploads.cancel, { key })} onClick={() => uploads.cancel(id)}>
              <IconX size={14} />
            </ActionIcon>
          )}
          {(state.kind === 'failed' || state.kind === 'cancelled') && (
            <ActionIcon size="sm" aria-label={say(t.uploads.retry, { key })} onClick={() => uploads.retry(id, {})}>
              <IconRefresh size={14} />
            </ActionIcon>
          )}
          {state.kind === 'exists' && (
            <>
              <Button size="compact-xs" variant="light" onClick={() => uploads.retry(id, { replace: true })}>
                {t.uploads.replace}
              </Button>
              <Button size="compact-xs" variant="default" onClick={() => uploads.rename(id)}>
                {t.uploads.rename}
              </Button>
            </>
          )}
        </Group>
      </Group>
      {(state.kind === 'sending' || state.kind === 'paused') && (
        <Progress
          size={3}
          value={size === 0 ? 100 : (100 * sent) / size}
          aria-label={say(t.uploads.progressOfKey, { key })}
        />
      )}
      {state.kind === 'failed' && (
        <Text size="xs" c="red">
          {state.message}
        </Text>
      )}
    </div>
  );
});

function label({ state, size, sent }: Upload): string {
  switch (state.kind) {
    case 'waiting':
      return t.uploads.waiting;
    case 'sending':
      return '';
    case 'paused':
      return say(t.uploads.pausedAt, { sent: formatBytes(sent) });
    case 'done':
      return formatBytes(size);
    case 'cancelled':
      return t.uploads.cancelled;
    case 'skipped':
      return t.uploads.skipped;
    case 'exists':
      return t.uploads.alreadyThere;
    case 'failed':
      return t.uploads.failedWord;
    default:
      return state satisfies never;
  }
}
