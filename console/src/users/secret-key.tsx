import { Text, PasswordInput, Switch } from '@mantine/core';
import { useState } from 'react';
import { useSession } from '../api/session.ts';
import { useReplaceSecret } from '../api/users.ts';
import { CredentialsDialog } from '../components/credentials-dialog.tsx';
import { fieldError, FormDialog } from '../components/form-dialog.tsx';
import { notifyDone } from '../components/feedback.tsx';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

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
        notifyDone(say(t.users.hasANewSecretKey, { name }));
        onClose();
      },
    });
  }

  if (made !== undefined) {
    return (
      <CredentialsDialog
        title={say(t.users.newSecretKeyOf, { name })}
        credentials={{ accessKey: name, secretKey: made }}
        s3Url={s3Url}
        onClose={onClose}
      />
    );
  }
  return (
    <FormDialog
      title={say(t.users.newSecretKeyFor, { name })}
      submit={t.users.replaceSecretKey}
      danger
      pending={replace.isPending}
      error={replace.error}
      fields={['secretKey']}
      onSubmit={submit}
      onClose={onClose}
    >
      <Text size="sm">{t.users.theOldSecretKeyIsRefusedFrom}</Text>
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
        label={t.users.chooseTheSecretKeyMyself}
        description={t.users.otherwiseTheServerMakesOneAndShows}
        checked={value !== undefined}
        onChange={(event) => onChange(event.currentTarget.checked ? typed : undefined)}
      />
      {value !== undefined && (
        <PasswordInput
          label={t.labels.secretKey}
          description={t.users.n8To128Characters}
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
