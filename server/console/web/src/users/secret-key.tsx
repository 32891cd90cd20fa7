import { Text, PasswordInput, Switch } from '@mantine/core';
import { useState } from 'react';
import { useSession } from '../api/session.ts';
import { useReplaceSecret } from '../api/users.ts';
import { CredentialsDialog } from '../components/credentials-dialog.tsx';
import { fieldError, FormDialog } from '../components/form-dialog.tsx';
import { notifyDone } from '../components/feedback.tsx';

interface ReplaceSecretDialogProps {
  readonly name: string;
  readonly onClose: () => void;
}

export function ReplaceSecretDialog({ name, onClose }: ReplaceSecretDialogProps) {
  const replace = useReplaceSecret(name);
  const s3Url = useSession().data?.s3Url;
  const [secretKey, setSecretKey] = useState<string>();
  const made = replace.data?.secretKey;

  function submit(): void {
    replace.mutate(secretKey, {
      onSuccess: (answer) => {
        if (answer.secretKey !== undefined) return;
        notifyDone(`${name} has a new secret key.`);
        onClose();
      },
    });
  }

  if (made !== undefined) {
    return (
      <CredentialsDialog
        title={`New secret key of ${name}`}
        credentials={{ accessKey: name, secretKey: made }}
        s3Url={s3Url}
        onClose={onClose}
      />
    );
  }
  return (
    <FormDialog
      title={`New secret key for ${name}`}
      submit="Replace secret key"
      danger
      pending={replace.isPending}
      error={replace.error}
      fields={['secretKey']}
      onSubmit={submit}
      onClose={onClose}
    >
      <Text size="sm">The old secret key is refused from then on, and sessions that were begun with it end.</Text>
      <SecretKeyChoice value={secretKey} onChange={setSecretKey} error={fieldError(replace.error, 'secretKey')} />
    </FormDialog>
  );
}

interface SecretKeyChoiceProps {
  /** Undefined if the server generates one. */
  readonly value: string | undefined;
  readonly onChange: (secretKey: string | undefined) => void;
  readonly error: string | undefined;
}

/** Lets the server generate a secret key, or asks for one. */
export function SecretKeyChoice({ value, onChange, error }: SecretKeyChoiceProps) {
  // The input survives a change of the choice.
  const [typed, setTyped] = useState('');
  return (
    <>
      <Switch
        label="Choose the secret key myself"
        description="Otherwise the server makes one and shows it once."
        checked={value !== undefined}
        onChange={(event) => onChange(event.currentTarget.checked ? typed : undefined)}
      />
      {value !== undefined && (
        <PasswordInput
          label="Secret key"
          description="8 to 128 characters."
          required
          withAsterisk={false}
          autoComplete="new-password"
          value={value}
          onChange={(event) => {
            setTyped(event.currentTarget.value);
            onChange(event.currentTarget.value);
          }}
          error={error}
        />
      )}
    </>
  );
}
