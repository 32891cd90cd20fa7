import type { KeyDescription } from '../../../protocol/admin/keys.ts';
import { Badge, Group, Modal, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { admin } from '../api/admin.ts';
import { CopyText } from '../components/copy-text.tsx';
import { Fact, Facts, Loaded } from '../components/detail-page.tsx';
import { useRestoreFocus } from '../components/kept-focus.ts';
import { formatTime } from '../text/format.ts';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

interface KeyDetailsProps {
  readonly name: string;
  readonly onClose: () => void;
}

/** Shows the description of a key by the key service. */
export function KeyDetails({ name, onClose }: KeyDetailsProps) {
  useRestoreFocus();
  const description = useQuery({
    queryKey: ['keys', 'description', name],
    queryFn: () => admin<KeyDescription>('GET', 'coffer/kms/key/describe', { query: { 'key-id': name } }),
  });
  return (
    <Modal opened onClose={onClose} title={say(t.keys.keyName, { name })}>
      <Loaded what={say(t.labels.cannotBeShown, { name })} query={description}>
        {({ algorithm, createdAt, createdBy, versions }) => (
          <Facts>
            <Fact name={t.keys.algorithm}>{algorithm}</Fact>
            <Fact name={t.labels.created}>{createdAt === undefined ? undefined : formatTime(createdAt)}</Fact>
            <Fact name={t.keys.createdBy} mono>
              {createdBy}
            </Fact>
            <Fact name={t.keys.versions}>
              <Versions versions={versions} />
            </Fact>
          </Facts>
        )}
      </Loaded>
    </Modal>
  );
}

function Versions({ versions }: Pick<KeyDescription, 'versions'>) {
  if (versions.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {t.keys.theKeyServiceNamesNone}
      </Text>
    );
  }
  return (
    <Stack gap={4}>
      {versions.toReversed().map((version, index) => (
        <Group key={version} gap={8}>
          <CopyText text={version} />
          {index === 0 && <Badge>{t.keys.encryptsNow}</Badge>}
        </Group>
      ))}
    </Stack>
  );
}
