import { Alert, Button, Group, Modal, Stack } from '@mantine/core';
import { useState } from 'react';
import type { BucketSummary } from '../../../contract/answers.ts';
import { useSetEncryption } from '../api/buckets.ts';
import { notifyDone } from '../shell/notify.ts';
import { useFocusBack } from '../shell/use-focus-back.ts';
import { choiceOf, EncryptionFields, encryptionOf } from './encryption-fields.tsx';

interface EncryptionDialogProps {
  readonly bucket: BucketSummary;
  readonly onClose: () => void;
}

export function EncryptionDialog({ bucket, onClose }: EncryptionDialogProps) {
  useFocusBack();
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
