import { ActionIcon, Group, Progress, Text } from '@mantine/core';
import { IconCheck, IconX } from '@tabler/icons-react';
import { NameText } from '../components/name-text.tsx';
import { jobs, type Job } from './jobs.ts';

export function JobRow({ job }: { readonly job: Job }) {
  const { id, title, done, total, failed, failures, state } = job;
  return (
    <div>
      <Group justify="space-between" wrap="nowrap" gap="xs" mih={28}>
        <Text size="sm" truncate>
          <NameText name={title} max={40} />
        </Text>
        <Group gap={6} wrap="nowrap">
          <Text size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
            {done}
            {total === undefined ? '' : ` of ${total}`}
            {failures > 0 ? `, ${failures} failed` : ''}
            {state === 'stopped' ? ', stopped' : ''}
          </Text>
          {state === 'running' ? (
            <ActionIcon size="sm" aria-label={`Stop: ${title}`} onClick={() => jobs.stop(id)}>
              <IconX size={14} />
            </ActionIcon>
          ) : (
            failures === 0 && state === 'done' && <IconCheck size={16} aria-hidden />
          )}
        </Group>
      </Group>
      {state === 'running' && (
        <Progress size={3} value={total ? (100 * (done + failures)) / total : 0} aria-label={`Progress of ${title}`} />
      )}
      {failed.slice(0, 5).map(({ key, message }) => (
        <Text key={key} size="xs" c="red" style={{ overflowWrap: 'anywhere' }}>
          {key === '' ? '' : `${key}: `}
          {message}
        </Text>
      ))}
    </div>
  );
}
