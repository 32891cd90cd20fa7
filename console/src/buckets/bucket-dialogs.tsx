import { Alert, Button, Checkbox, Group, Input, Modal, Stack, TextInput, Text } from '@mantine/core';
import type { SubmitEvent } from 'react';
import { useNavigate } from 'react-router';
import { useCreateBucket, useDeleteBucket } from '../api/buckets.ts';
import { useRights } from '../api/session.ts';
import { bytesOf, splitBytes } from '../bucket-settings/quota-size.ts';
import { EncryptionFields, encryptionOf, type EncryptionChoice } from './bucket-encryption.tsx';
import { notifyDone } from '../components/feedback.tsx';
import { PairEditor, type EditedPair } from '../components/pair-editor.tsx';
import { SizeFields } from '../components/size-fields.tsx';
import { useRestoreFocus } from '../components/kept-focus.ts';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';
import { useDraft } from '../components/use-draft.ts';
import { ResponseError } from '../../../protocol/response-error.ts';

interface CreateBucketDialogProps {
  readonly opened: boolean;
  readonly onClose: () => void;
}

export function CreateBucketDialog({ opened, onClose }: CreateBucketDialogProps) {
  return (
    <Modal opened={opened} onClose={onClose} title={t.buckets.createABucket}>
      <CreateBucketForm onClose={onClose} />
    </Modal>
  );
}

function CreateBucketForm({ onClose }: { readonly onClose: () => void }) {
  const create = useCreateBucket();
  const navigate = useNavigate();
  const [name, setName] = useDraft('bucket.name', '');
  const [choice, setChoice] = useDraft<EncryptionChoice>('bucket.encryption', { scheme: 'none', keyName: '' });
  const [versioning, setVersioning] = useDraft('bucket.versioning', false);
  const [objectLock, setObjectLock] = useDraft('bucket.lock', false);
  const [tags, setTags] = useDraft<readonly EditedPair[]>('bucket.tags', []);
  const [quota, setQuota] = useDraft('bucket.quota', splitBytes(0));
  const { may } = useRights();

  function submit(event: SubmitEvent<HTMLFormElement>): void {
    event.preventDefault();
    const encryption = encryptionOf(choice);
    create.mutate(
      {
        name,
        encryption,
        versioning: versioning || objectLock,
        objectLock,
        quota: bytesOf(quota),
        tags: Object.fromEntries(tags.filter((tag) => tag.name !== '').map((tag) => [tag.name, tag.value])),
      },
      {
        onSuccess: () => {
          onClose();
          void navigate(`/buckets/${encodeURIComponent(name)}`);
        },
      },
    );
  }

  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <TextInput
          label={t.labels.name}
          description={t.buckets.n3To63OfAZ0}
          required
          withAsterisk={false}
          data-autofocus
          autoCapitalize="none"
          autoComplete="off"
          spellCheck={false}
          maxLength={63}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Stack gap={8}>
          <Checkbox
            label={t.buckets.keepVersions}
            description={t.buckets.eachChangeOfAnObjectKeepsWhat}
            checked={versioning || objectLock}
            disabled={objectLock}
            onChange={(event) => setVersioning(event.currentTarget.checked)}
          />
          <Checkbox
            label={t.buckets.objectLock}
            description={t.buckets.versionsCanBeProtectedFromDeletionUntil}
            checked={objectLock}
            onChange={(event) => setObjectLock(event.currentTarget.checked)}
          />
        </Stack>
        <EncryptionFields choice={choice} onChange={setChoice} />
        {may('admin:SetBucketQuota') && <SizeFields label={t.buckets.quota} size={quota} onChange={setQuota} />}
        <Input.Wrapper label={t.buckets.tags} labelElement="div">
          <PairEditor add={t.buckets.addATag} pairs={tags} onChange={setTags} max={50} />
        </Input.Wrapper>
        {create.isError && (
          <Alert color="red" role="alert">
            {isTaken(create.error)
              ? say(t.buckets.theNameIsTaken, { name: create.variables.name })
              : create.error.message}
          </Alert>
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {t.labels.cancel}
          </Button>
          <Button type="submit" loading={create.isPending}>
            {t.buckets.createBucket}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** The message of S3 for a taken name is meant for a client that repeats its request. */
function isTaken(error: Error): boolean {
  return error instanceof ResponseError && /^BucketAlready(?:Exists|OwnedByYou)$/.test(error.code);
}

interface DeleteBucketDialogProps {
  readonly bucket: string;
  readonly onClose: () => void;
  readonly onDeleted?: () => void;
}

export function DeleteBucketDialog({ bucket, onClose, onDeleted }: DeleteBucketDialogProps) {
  useRestoreFocus();
  const remove = useDeleteBucket();

  function confirm(): void {
    remove.mutate(bucket, {
      onSuccess: () => {
        notifyDone(say(t.buckets.isDeleted, { bucket }));
        onClose();
        onDeleted?.();
      },
    });
  }

  return (
    <Modal opened onClose={onClose} title={say(t.buckets.deleteTheBucket, { bucket })}>
      <Stack gap="md">
        <Text size="sm">{t.buckets.onlyAnEmptyBucketCanBeDeleted}</Text>
        {remove.isError && (
          <Alert color="red" role="alert">
            {remove.error.message}
          </Alert>
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose} data-autofocus>
            {t.labels.cancel}
          </Button>
          <Button color="red" loading={remove.isPending} onClick={confirm}>
            {t.buckets.deleteBucket}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
