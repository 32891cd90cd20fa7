import { Badge, Text, Tooltip } from '@mantine/core';
import { IconLock } from '@tabler/icons-react';
import type { BucketSummary } from '../../../contract/answers.ts';

/** The default encryption of a bucket: what new objects get that ask for nothing else. */
export function EncryptionBadge({ encryption }: { readonly encryption: BucketSummary['encryption'] }) {
  if (encryption === undefined) {
    return (
      <Text size="sm" c="dimmed">
        none
      </Text>
    );
  }
  if (encryption.scheme === 'unknown') {
    return (
      <Tooltip label="Your policies do not allow s3:GetEncryptionConfiguration on this bucket.">
        <Text size="sm" c="dimmed" span>
          not shown to you
        </Text>
      </Tooltip>
    );
  }
  const key = encryption.scheme === 'SSE-KMS' ? encryption.keyName : undefined;
  const words =
    encryption.scheme === 'SSE-KMS'
      ? `New objects are encrypted under ${key === undefined ? 'the default key' : `the key ${key}`} of the key service.`
      : 'New objects are encrypted under the default key of the server.';
  return (
    <Tooltip label={words}>
      <Badge leftSection={<IconLock size={11} />}>
        {encryption.scheme}
        {key === undefined ? '' : ` · ${key}`}
      </Badge>
    </Tooltip>
  );
}
