import { ActionIcon, Button, Group, Progress, Text, Tooltip } from '@mantine/core';
import { IconCheck, IconPlayerPause, IconPlayerPlay, IconRefresh, IconX } from '@tabler/icons-react';
import { NameText } from '../components/name-text.tsx';
import { formatBytes } from '../text/format.ts';
import { isUnderWay, type Upload } from './upload-queue.ts';
import { uploads } from './uploads.ts';

export function UploadRow({ upload }: { readonly upload: Upload }) {
  const { id, key, size, sent, state } = upload;
  const name = key.split('/').at(-1) ?? key;
  return (
    <div>
      <Group justify="space-between" wrap="nowrap" gap="xs" mih={28}>
        <Tooltip label={`${upload.bucket}/${key}`}>
          <Text size="sm" truncate>
            <NameText name={name} max={36} />
          </Text>
        </Tooltip>
        <Group gap={6} wrap="nowrap">
          <Text size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
            {state.kind === 'sending' ? `${formatBytes(sent)} of ${formatBytes(size)}` : label(upload)}
          </Text>
          {state.kind === 'done' && <IconCheck size={16} color="var(--mantine-color-patina-filled)" aria-hidden />}
          {isUnderWay(upload) && (
            <ActionIcon size="sm" aria-label={`Pause ${key}`} onClick={() => uploads.pause(id)}>
              <IconPlayerPause size={14} />
            </ActionIcon>
          )}
          {state.kind === 'paused' && (
            <ActionIcon size="sm" aria-label={`Resume ${key}`} onClick={() => uploads.resume(id)}>
              <IconPlayerPlay size={14} />
            </ActionIcon>
          )}
          {(isUnderWay(upload) || state.kind === 'paused') && (
            <ActionIcon size="sm" aria-label={`Cancel ${key}`} onClick={() => uploads.cancel(id)}>
              <IconX size={14} />
            </ActionIcon>
          )}
          {(state.kind === 'failed' || state.kind === 'cancelled') && (
            <ActionIcon size="sm" aria-label={`Retry ${key}`} onClick={() => uploads.retry(id, {})}>
              <IconRefresh size={14} />
            </ActionIcon>
          )}
          {state.kind === 'exists' && (
            <>
              <Button size="compact-xs" variant="light" onClick={() => uploads.retry(id, { replace: true })}>
                Replace
              </Button>
              <Button size="compact-xs" variant="default" onClick={() => uploads.rename(id)}>
                Rename
              </Button>
            </>
          )}
        </Group>
      </Group>
      {(state.kind === 'sending' || state.kind === 'paused') && (
        <Progress size={3} value={size === 0 ? 100 : (100 * sent) / size} aria-label={`Progress of ${key}`} />
      )}
      {state.kind === 'failed' && (
        <Text size="xs" c="red">
          {state.message}
        </Text>
      )}
    </div>
  );
}

function label({ state, size, sent }: Upload): string {
  switch (state.kind) {
    case 'waiting':
      return 'waiting';
    case 'sending':
      return '';
    case 'paused':
      return `paused at ${formatBytes(sent)}`;
    case 'done':
      return formatBytes(size);
    case 'cancelled':
      return 'cancelled';
    case 'skipped':
      return 'skipped';
    case 'exists':
      return 'already there';
    case 'failed':
      return 'failed';
    default:
      return state satisfies never;
  }
}
