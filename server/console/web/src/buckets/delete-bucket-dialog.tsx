import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useDeleteBucket } from '../api/buckets.ts';
import { notifyDone } from '../shell/notify.ts';
import { useFocusBack } from '../shell/use-focus-back.ts';

interface DeleteBucketDialogProps {
  readonly bucket: string;
  readonly onClose: () => void;
  readonly onDeleted?: () => void;
}

export function DeleteBucketDialog({ bucket, onClose, onDeleted }: DeleteBucketDialogProps) {
  useFocusBack();
  const remove = useDeleteBucket();

  function confirm(): void {
    remove.mutate(bucket, {
      onSuccess: () => {
        notifyDone(`${bucket} is deleted.`);
        onClose();
        onDeleted?.();
      },
    });
  }

  return (
    <Modal opened onClose={onClose} title={`Delete the bucket ${bucket}?`}>
      <Stack gap="md">
        <Text size="sm">Only an empty bucket can be deleted. Its name is free afterwards.</Text>
        {remove.isError && (
          <Alert color="red" role="alert">
            {remove.error.message}
          </Alert>
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose} data-autofocus>
            Cancel
          </Button>
          <Button color="red" loading={remove.isPending} onClick={confirm}>
            Delete bucket
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
