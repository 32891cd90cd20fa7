import { Alert, Button, Group, List, Modal, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useDelete, type Deletion } from '../api/objects.ts';
import { useBucketRights } from '../api/rights.ts';
import { useVersioning } from '../api/versioning.ts';
import { notifyDone } from '../components/feedback.tsx';
import { useRestoreFocus } from '../components/kept-focus.ts';
import { NameText } from '../components/name-text.tsx';
import { shorten } from '../text/names.ts';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

interface DeleteDialogProps {
  readonly bucket: string;
  readonly deletion: Deletion;
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}

const namesShown = 8;

export function DeleteDialog({ bucket, deletion, onClose, onDeleted }: DeleteDialogProps) {
  useRestoreFocus();
  const [deleted, setDeleted] = useState(0);
  const remove = useDelete(bucket, setDeleted);
  const mayAsk = useBucketRights(bucket).bucket('s3:GetBucketVersioning');
  const versioning = useVersioning(bucket, mayAsk);
  const keepsVersions =
    versioning.data?.status === 'Enabled' &&
    versioning.data.excludedPrefixes.length === 0 &&
    !versioning.data.excludeFolders;
  const names = [...deletion.folders, ...deletion.keys];
  const title =
    names.length === 1
      ? say(t.objects.delete, { name: shorten(names[0]?.split('/').findLast((part) => part !== '') ?? '') })
      : say(t.objects.deleteEntries, { names: names.length });

  function confirm(): void {
    remove.mutate(deletion, {
      onSuccess: (count) => {
        notifyDone(say(t.objects.objectsAreDeleted, { count }));
        onDeleted();
        onClose();
      },
    });
  }

  return (
    <Modal opened onClose={onClose} title={title} closeOnClickOutside={!remove.isPending}>
      <Stack gap="md">
        <List size="sm" listStyleType="none" className="mono">
          {names.slice(0, namesShown).map((name) => (
            <List.Item key={name}>
              <NameText name={`${bucket}/${name}`} max={200} />
            </List.Item>
          ))}
          {names.length > namesShown && (
            <List.Item>{say(t.objects.andMore, { names: names.length - namesShown })}</List.Item>
          )}
        </List>
        <Text size="sm">
          {deletion.folders.length > 0 && t.objects.foldersGoWithEverythingInThem}{' '}
          {!versioning.isLoading && (keepsVersions ? t.objects.theBucketKeepsVersions : t.objects.thisCannotBeUndone)}
        </Text>
        {remove.isError && (
          <Alert color="red" role="alert">
            {remove.error.message}
          </Alert>
        )}
        <Group justify="flex-end" gap="xs">
          {remove.isPending && (
            <Text size="sm" c="dimmed" aria-live="polite">
              {say(t.objects.deleted, { deleted })}
            </Text>
          )}
          <Button variant="default" onClick={onClose} data-autofocus>
            {t.labels.cancel}
          </Button>
          <Button color="red" loading={remove.isPending} onClick={confirm}>
            {t.objects.deleteTitle}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
