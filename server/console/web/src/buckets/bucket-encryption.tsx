import { Badge, Text, Tooltip, Alert, Button, Group, Modal, Stack, Radio, TextInput } from '@mantine/core';
import { IconLock } from '@tabler/icons-react';
import type { BucketSummary, BucketEncryptionAnswer } from '../../../contract/answers.ts';
import { useState } from 'react';
import { useSetEncryption } from '../api/buckets.ts';
import { notifyDone } from '../components/feedback.tsx';
import { useRestoreFocus } from '../components/form-dialog.tsx';

/** The default encryption of a bucket, for new objects without an encryption of their own. */
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

interface EncryptionDialogProps {
  readonly bucket: BucketSummary;
  readonly onClose: () => void;
}

export function EncryptionDialog({ bucket, onClose }: EncryptionDialogProps) {
  useRestoreFocus();
  const [choice, setChoice] = useState(choiceOf(bucket.encryption));
  const set = useSetEncryption(bucket.name);

  function save(): void {
    set.mutate(encryptionOf(choice), {
      onSuccess: () => {
        notifyDone(`The default encryption of ${bucket.name} is ${choice.scheme === 'none' ? 'off' : choice.scheme}.`);
        onClose();
      },
    });
  }

  return (
    <Modal opened onClose={onClose} title={`Encryption of ${bucket.name}`}>
      <Stack gap="md">
        <EncryptionFields choice={choice} onChange={setChoice} />
        {set.isError && (
          <Alert color="red" role="alert">
            {set.error.message}
          </Alert>
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button loading={set.isPending} onClick={save}>
            Save
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

export interface EncryptionChoice {
  readonly scheme: 'none' | BucketEncryptionAnswer['scheme'];
  readonly keyName: string;
}

interface EncryptionFieldsProps {
  readonly choice: EncryptionChoice;
  readonly onChange: (choice: EncryptionChoice) => void;
}

export function EncryptionFields({ choice, onChange }: EncryptionFieldsProps) {
  return (
    <Stack gap="sm">
      <Radio.Group
        label="Default encryption"
        description="For new objects that ask for nothing else. What is stored already stays as it is."
        value={choice.scheme}
        onChange={(scheme) => onChange({ ...choice, scheme: schemeOf(scheme) })}
      >
        <Stack gap={8} mt="xs">
          <Radio value="none" label="None" />
          <Radio value="SSE-S3" label="SSE-S3" description="Under the default key of the server" />
          <Radio value="SSE-KMS" label="SSE-KMS" description="Under a key of the key service that you name" />
        </Stack>
      </Radio.Group>
      {choice.scheme === 'SSE-KMS' && (
        <TextInput
          label="Key name"
          placeholder="default key"
          description="Leave it empty for the default key."
          maxLength={80}
          spellCheck={false}
          value={choice.keyName}
          onChange={(event) => onChange({ ...choice, keyName: event.currentTarget.value })}
        />
      )}
    </Stack>
  );
}

/** Converts the choice for the API; undefined for none. */
export function encryptionOf({ scheme, keyName }: EncryptionChoice): BucketEncryptionAnswer | undefined {
  if (scheme === 'none') return undefined;
  if (scheme === 'SSE-S3' || keyName.trim() === '') return { scheme };
  return { scheme, keyName: keyName.trim() };
}

function choiceOf(encryption: BucketEncryptionAnswer | { readonly scheme: 'unknown' } | undefined): EncryptionChoice {
  if (encryption === undefined || encryption.scheme === 'unknown') return { scheme: 'none', keyName: '' };
  return { scheme: encryption.scheme, keyName: encryption.scheme === 'SSE-KMS' ? (encryption.keyName ?? '') : '' };
}

function schemeOf(value: string): EncryptionChoice['scheme'] {
  return value === 'SSE-S3' || value === 'SSE-KMS' ? value : 'none';
}
