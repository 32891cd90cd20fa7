import { Badge, Text, Tooltip, Alert, Button, Group, Modal, Stack, Radio, Autocomplete } from '@mantine/core';
import { IconLock } from '@tabler/icons-react';
import type { BucketSummary, BucketEncryptionAnswer } from '../../../protocol/console/answers.ts';
import { useQuery } from '@tanstack/react-query';
import { admin } from '../api/admin.ts';
import { useSetEncryption } from '../api/buckets.ts';
import { useRights } from '../api/session.ts';
import { notifyDone } from '../components/feedback.tsx';
import { useRestoreFocus } from '../components/kept-focus.ts';
import { shorten } from '../text/names.ts';
import { UnknownFields } from '../components/unknown-fields.tsx';
import { isSame } from '../text/element-form.ts';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';
import { useDraft } from '../components/use-draft.ts';

interface EncryptionBadgeProps {
  readonly encryption: BucketSummary['encryption'];
  /** No heading says what it is about. */
  readonly alone?: boolean;
}

/** The default encryption of a bucket, for new objects without an encryption of their own. */
export function EncryptionBadge({ encryption, alone = false }: EncryptionBadgeProps) {
  if (encryption === undefined) {
    return (
      <Tooltip label={t.buckets.newObjectsAreNotEncryptedChooseIn} multiline maw={320}>
        <Text size={alone ? 'xs' : 'sm'} c="dimmed" span>
          {alone ? t.buckets.encryptionNone : t.labels.none}
        </Text>
      </Tooltip>
    );
  }
  if (encryption.scheme === 'unknown') {
    return (
      <Tooltip label={t.buckets.toSeeTheEncryptionYouNeedThe}>
        <Text size="sm" c="dimmed" span>
          {t.buckets.notShownToYou}
        </Text>
      </Tooltip>
    );
  }
  const key = encryption.scheme === 'SSE-KMS' ? encryption.keyName : undefined;
  const words =
    encryption.scheme === 'SSE-KMS'
      ? key === undefined
        ? t.buckets.newObjectsAreEncryptedUnderTheDefault
        : say(t.buckets.newObjectsAreEncryptedUnderTheKey, { key })
      : t.buckets.newObjectsAreEncryptedUnderTheDefaultKey;
  return (
    <Tooltip label={words}>
      <Badge leftSection={<IconLock size={11} />}>
        {encryption.scheme}
        {key === undefined ? '' : ` · ${shorten(key, 20)}`}
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
  // A draft survives a reload, after which the encryption may be another one.
  const [{ choice, expects }, setDraft] = useDraft('encryption', {
    choice: choiceOf(bucket.encryption),
    expects: bucket.encryptionTag,
  });
  const set = useSetEncryption(bucket.name);

  function save(): void {
    // Nothing is sent where the user changed nothing, nor where the user may not see the encryption and has chosen none.
    if (isSame(choice, choiceOf(bucket.encryption))) {
      onClose();
      return;
    }
    const change = { expects, encryption: encryptionOf(choice) };
    set.mutate(change, {
      onSuccess: () => {
        notifyDone(
          choice.scheme === 'none'
            ? say(t.buckets.theDefaultEncryptionOfIsOff, { name: bucket.name })
            : say(t.buckets.theDefaultEncryptionOfIs, { name: bucket.name, scheme: choice.scheme }),
        );
        onClose();
      },
    });
  }

  return (
    <Modal opened onClose={onClose} title={say(t.buckets.encryptionOf, { name: bucket.name })}>
      <Stack gap="md">
        <EncryptionFields choice={choice} onChange={(changed) => setDraft({ choice: changed, expects })} />
        <UnknownFields parts={partsOf(bucket.encryptionKeeps)} />
        {set.isError && (
          <Alert color="red" role="alert">
            {set.error.message}
          </Alert>
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {t.labels.cancel}
          </Button>
          <Button loading={set.isPending} onClick={save}>
            {t.labels.save}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

export interface EncryptionChoice {
  /** `unknown`: the user may not see the encryption, and has not chosen one. */
  readonly scheme: 'none' | 'unknown' | BucketEncryptionAnswer['scheme'];
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
        label={t.buckets.defaultEncryption}
        description={t.buckets.forNewObjectsThatAskForNothing}
        value={choice.scheme}
        onChange={(scheme) => onChange({ ...choice, scheme: schemeOf(scheme) })}
      >
        <Stack gap={8} mt="xs">
          <Radio value="none" label={t.buckets.none} />
          <Radio value="SSE-S3" label="SSE-S3" description={t.buckets.underTheDefaultKeyOfTheServer} />
          <Radio value="SSE-KMS" label="SSE-KMS" description={t.buckets.underAKeyOfTheKeyService} />
        </Stack>
      </Radio.Group>
      {choice.scheme === 'SSE-KMS' && (
        <KeyPicker keyName={choice.keyName} onChange={(keyName) => onChange({ ...choice, keyName })} />
      )}
    </Stack>
  );
}

interface KeyPickerProps {
  readonly keyName: string;
  readonly onChange: (keyName: string) => void;
}

/** Suggests the keys that the user may list. Another name can be typed: the right to use a key is not the right to list it. */
function KeyPicker({ keyName, onChange }: KeyPickerProps) {
  const { may } = useRights();
  const keys = useQuery({
    queryKey: ['keys'],
    queryFn: () => admin<readonly { readonly name: string }[]>('GET', 'kms/key/list', { query: { pattern: '*' } }),
    enabled: may('admin:KMSListKeys'),
  });
  return (
    <Autocomplete
      label={t.buckets.keyName}
      placeholder={t.buckets.defaultKey}
      description={
        keys.isError
          ? say(t.buckets.theKeysCannotBeListed, { message: keys.error.message })
          : t.buckets.leaveItEmptyForTheDefaultKey
      }
      maxLength={80}
      spellCheck={false}
      limit={100}
      data={keys.data?.map(({ name }) => name) ?? []}
      value={keyName}
      onChange={onChange}
    />
  );
}

/** Converts the choice for the API; undefined for none. */
export function encryptionOf({ scheme, keyName }: EncryptionChoice): BucketEncryptionAnswer | undefined {
  if (scheme === 'none' || scheme === 'unknown') return undefined;
  if (scheme === 'SSE-S3' || keyName.trim() === '') return { scheme };
  return { scheme, keyName: keyName.trim() };
}

function choiceOf(encryption: BucketEncryptionAnswer | { readonly scheme: 'unknown' } | undefined): EncryptionChoice {
  if (encryption === undefined) return { scheme: 'none', keyName: '' };
  return { scheme: encryption.scheme, keyName: encryption.scheme === 'SSE-KMS' ? (encryption.keyName ?? '') : '' };
}

/** The parts of the document that the form has no field for. */
function partsOf({ bucketKey, blocked }: BucketSummary['encryptionKeeps'] = {}): readonly string[] {
  return [
    ...(blocked === undefined ? [] : [`BlockedEncryptionTypes: ${blocked.join(', ')}`]),
    ...(bucketKey === undefined ? [] : [`BucketKeyEnabled: ${bucketKey}`]),
  ];
}

function schemeOf(value: string): EncryptionChoice['scheme'] {
  return value === 'SSE-S3' || value === 'SSE-KMS' ? value : 'none';
}
