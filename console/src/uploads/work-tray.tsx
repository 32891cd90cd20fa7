import { ActionIcon, Button, Collapse, Group, Paper, ScrollArea, Stack, Text, Tooltip } from '@mantine/core';
import { IconChevronDown, IconChevronUp, IconPlayerPause, IconPlayerPlay, IconX } from '@tabler/icons-react';
import { useState } from 'react';
import { useEndTransfer, useTransfers } from '../api/transfers.ts';
import { JobRow } from '../jobs/job-row.tsx';
import { Interrupted, useInterrupted } from './interrupted.tsx';
import { inOrder, isUnderWay, type Upload } from './upload-queue.ts';
import { UploadRow } from './upload-row.tsx';
import { uploads, useUploads } from './uploads.ts';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

/** Rows of the list. Those after it wait, or are done. */
const rowsShown = 20;

/** The uploads and the jobs, in the corner of every page. */
export function WorkTray() {
  const list = useUploads();
  const working = useTransfers();
  const end = useEndTransfer();
  const [interrupted, gone] = useInterrupted();
  const [open, setOpen] = useState(true);
  if (list.length + working.length + interrupted.length === 0) return null;
  const left = list.filter(isUnderWay).length;
  const busy = left > 0 || working.some(({ state }) => state === 'running');
  const paused = list.some(({ state }) => state.kind === 'paused');
  const shown = inOrder(list).slice(0, rowsShown);
  return (
    <Paper className="tray" shadow="md" role="region" aria-label={t.uploads.uploads}>
      <Group justify="space-between" px="sm" py={8} wrap="nowrap">
        <Text size="sm" fw={600} role="status">
          {titleOf(list, left, working.length)}
        </Text>
        <Group gap={4} wrap="nowrap">
          {left > 0 && (
            <Tooltip label={t.uploads.pauseAll}>
              <ActionIcon aria-label={t.uploads.pauseAllUploads} onClick={() => uploads.pauseAll()}>
                <IconPlayerPause size={16} />
              </ActionIcon>
            </Tooltip>
          )}
          {left === 0 && paused && (
            <Tooltip label={t.labels.goOn}>
              <ActionIcon aria-label={t.uploads.resumeAllUploads} onClick={() => uploads.resumeAll()}>
                <IconPlayerPlay size={16} />
              </ActionIcon>
            </Tooltip>
          )}
          <ActionIcon
            aria-label={open ? t.uploads.foldUploads : t.uploads.unfoldUploads}
            onClick={() => setOpen(!open)}
          >
            {open ? <IconChevronDown size={16} /> : <IconChevronUp size={16} />}
          </ActionIcon>
          {!busy && !paused && interrupted.length === 0 && (
            <ActionIcon
              aria-label={t.uploads.closeUploads}
              onClick={() => {
                uploads.clear();
                for (const { id } of working) end.mutate(id);
              }}
            >
              <IconX size={16} />
            </ActionIcon>
          )}
        </Group>
      </Group>
      <Collapse expanded={open}>
        <ScrollArea.Autosize mah={320} viewportProps={{ tabIndex: 0, 'aria-label': t.uploads.listOfUploads }}>
          <Stack gap={10} px="sm" pb="sm">
            {interrupted.length > 0 && <Interrupted records={interrupted} onGone={gone} />}
            {working.map((job) => (
              <JobRow key={job.id} job={job} />
            ))}
            <Decisions list={list} />
            {shown.map((upload) => (
              <UploadRow key={upload.id} upload={upload} />
            ))}
            {list.length > shown.length && (
              <Text size="xs" c="dimmed">
                {say(t.uploads.andMore, { list: list.length - shown.length })}
              </Text>
            )}
          </Stack>
        </ScrollArea.Autosize>
      </Collapse>
    </Paper>
  );
}

/** One decision for all files whose names are taken. */
function Decisions({ list }: { readonly list: readonly Upload[] }) {
  const count = list.filter(({ state }) => state.kind === 'exists').length;
  if (count < 2) return null;
  const button = { size: 'compact-xs', variant: 'light' } as const;
  return (
    <Group gap={6} role="group" aria-label={t.uploads.filesWhoseNamesAreTaken}>
      <Text size="xs">{say(t.uploads.areThereAlready, { count })}</Text>
      <Button {...button} onClick={() => uploads.decideAll('replace')}>
        {t.uploads.replaceAll}
      </Button>
      <Button {...button} onClick={() => uploads.decideAll('skip')}>
        {t.uploads.skipAll}
      </Button>
      <Button {...button} onClick={() => uploads.decideAll('rename')}>
        {t.uploads.renameAll}
      </Button>
    </Group>
  );
}

function titleOf(list: readonly Upload[], left: number, jobCount: number): string {
  if (left > 0) return say(t.uploads.uploadingOf, { left, list: list.length });
  if (list.length === 0) return jobCount === 0 ? t.uploads.uploads : t.uploads.copiesAndMoves;
  const done = list.filter(({ state }) => state.kind === 'done').length;
  return done === list.length
    ? say(t.uploads.uploaded, { done })
    : say(t.uploads.uploadedNot, { done, list: list.length - done });
}
