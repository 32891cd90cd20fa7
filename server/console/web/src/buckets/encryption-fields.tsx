import { Radio, Stack, TextInput } from '@mantine/core';
import type { BucketEncryptionAnswer } from '../../../contract/answers.ts';

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

/** What the API takes; undefined for none. */
export function encryptionOf({ scheme, keyName }: EncryptionChoice): BucketEncryptionAnswer | undefined {
  if (scheme === 'none') return undefined;
  if (scheme === 'SSE-S3' || keyName.trim() === '') return { scheme };
  return { scheme, keyName: keyName.trim() };
}

export function choiceOf(
  encryption: BucketEncryptionAnswer | { readonly scheme: 'unknown' } | undefined,
): EncryptionChoice {
  if (encryption === undefined || encryption.scheme === 'unknown') return { scheme: 'none', keyName: '' };
  return { scheme: encryption.scheme, keyName: encryption.scheme === 'SSE-KMS' ? (encryption.keyName ?? '') : '' };
}

function schemeOf(value: string): EncryptionChoice['scheme'] {
  return value === 'SSE-S3' || value === 'SSE-KMS' ? value : 'none';
}
