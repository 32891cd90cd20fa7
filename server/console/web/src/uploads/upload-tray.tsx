import { ActionIcon, Button, Collapse, Group, Paper, Progress, ScrollArea, Stack, Text, Tooltip } from '@mantine/core';
import { IconCheck, IconChevronDown, IconChevronUp, IconRefresh, IconX } from '@tabler/icons-react';
import { useState } from 'react';
import { formatBytes } from '../text/format.ts';
import { isUnderWay, type Upload } from './upload-queue.ts';
import { uploads, useUploads } from './uploads.ts';

/** The uploads, in the corner of every page. */
export function UploadTray() {
  const list = useUploads();
  const [open, setOpen] = useState(true);
  if (list.length === 0) return null;
  const left = list.filter(isUnderWay).length;
  const title = left > 0 ? `Uploading ${left} of ${list.length}` : summary(list);
  return (
    <Paper className="tray" shadow="md" role="region" aria-label="Uploads">
      <Group justify="space-between" px="sm" py={8} wrap="nowrap">
        <Text size="sm" fw={600} aria-live="polite">
          {title}
        </Text>
        <Group gap={4}>
          <ActionIcon aria-label={open ? 'Fold uploads' : 'Unfold uploads'} onClick={() => setOpen(!open)}>
            {open ? <IconChevronDown size={16} /> : <IconChevronUp size={16} />}
          </ActionIcon>
          {left === 0 && (
            <ActionIcon aria-label="Close uploads" onClick={() => uploads.clear()}>
              <IconX size={16} />
            </ActionIcon>
          )}
        </Group>
      </Group>
      <Collapse expanded={open}>
        <ScrollArea.Autosize mah={280}>
          <Stack gap={10} px="sm" pb="sm">
            {list.map((upload) => (
              <Row key={upload.id} upload={upload} />
            ))}
          </Stack>
        </ScrollArea.Autosize>
      </Collapse>
    </Paper>
  );
}

function Row({ upload }: { readonly upload: Upload }) {
  const { id, key, size, sent, state } = upload;
  return (
    <div>
      <Group justify="space-between" wrap="nowrap" gap="xs" mih={28}>
        <Tooltip label={`${upload.bucket}/${key}`}>
          <Text size="sm" truncate>
            {key.split('/').at(-1)}
          </Text>
        </Tooltip>
        <Group gap={6} wrap="nowrap">
          <Text size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
            {state.kind === 'sending' ? `${formatBytes(sent)} of ${formatBytes(size)}` : label(upload)}
          </Text>
          {state.kind === 'done' && <IconCheck size={16} color="var(--mantine-color-patina-filled)" aria-hidden />}
          {isUnderWay(upload) && (
            <ActionIcon size="sm" aria-label={`Cancel ${key}`} onClick={() => uploads.cancel(id)}>
              <IconX size={14} />
            </ActionIcon>
          )}
          {(state.kind === 'failed' || state.kind === 'cancelled') && (
            <ActionIcon size="sm" aria-label={`Retry ${key}`} onClick={() => uploads.retry(id, { replace: false })}>
              <IconRefresh size={14} />
            </ActionIcon>
          )}
          {state.kind === 'exists' && (
            <Button size="compact-xs" variant="light" onClick={() => uploads.retry(id, { replace: true })}>
              Replace
            </Button>
          )}
        </Group>
      </Group>
      {state.kind === 'sending' && (
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

function label({ state, size }: Upload): string {
  switch (state.kind) {
    case 'waiting':
      return 'waiting';
    case 'sending':
      return '';
    case 'done':
      return formatBytes(size);
    case 'cancelled':
      return 'cancelled';
    case 'exists':
      return 'already there';
    case 'failed':
      return 'failed';
  }
}

function summary(list: readonly Upload[]): string {
  const done = list.filter(({ state }) => state.kind === 'done').length;
  if (done === list.length) return `${done} uploaded`;
  return `${done} uploaded, ${list.length - done} not`;
}
