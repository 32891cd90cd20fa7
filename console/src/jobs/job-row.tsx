import { ActionIcon, Group, Progress, Text } from '@mantine/core';
import { IconCheck, IconX } from '@tabler/icons-react';
import type { TransferRow } from '../../../protocol/console/transfer-answers.ts';
import { useEndTransfer } from '../api/transfers.ts';
import { FittedName, NameText } from '../components/name-text.tsx';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';
import { formatCount } from '../text/format.ts';

/** A copy or a move, which the server does. */
export function JobRow({ job }: { readonly job: TransferRow }) {
  const end = useEndTransfer();
  const { id, title, done, total, failed, failures, state, reason } = job;
  return (
    <div>
      <Group justify="space-between" wrap="nowrap" gap="xs" mih={28}>
        <Text size="sm" className="one-line">
          <FittedName name={title} />
        </Text>
        <Group gap={6} wrap="nowrap">
          <Text size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
            {[
              total === undefined ? formatCount(done) : say(t.uploads.of, { done, total }),
              ...(failures > 0 ? [say(t.uploads.failed, { failures })] : []),
              ...(state === 'stopped' ? [t.uploads.stopped] : []),
            ].join(', ')}
          </Text>
          {state === 'done' && failures === 0 && <IconCheck size={16} aria-hidden />}
          <ActionIcon
            size="sm"
            aria-label={state === 'running' ? say(t.uploads.stop, { title }) : say(t.uploads.forget, { title })}
            loading={end.isPending}
            onClick={() => end.mutate(id)}
          >
            <IconX size={14} />
          </ActionIcon>
        </Group>
      </Group>
      {state === 'running' && (
        <Progress
          size={3}
          value={total === undefined || total === 0 ? 0 : (100 * (done + failures)) / total}
          aria-label={say(t.uploads.progressOf, { title })}
        />
      )}
      {reason !== undefined && (
        <Text size="xs" c="dimmed">
          {reason}
        </Text>
      )}
      {failed.slice(0, 5).map(({ key, message }) => (
        <Text key={key} size="xs" c="var(--mantine-color-error)" style={{ overflowWrap: 'anywhere' }}>
          <NameText name={key} max={120} />: {message}
        </Text>
      ))}
    </div>
  );
}
