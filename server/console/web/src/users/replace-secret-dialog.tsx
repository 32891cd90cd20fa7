import { Text } from '@mantine/core';
import { useState } from 'react';
import { useSession } from '../api/session.ts';
import { useReplaceSecret } from '../api/users.ts';
import { CredentialsDialog } from '../shell/credentials-dialog.tsx';
import { fieldError, FormDialog } from '../shell/form-dialog.tsx';
import { notifyDone } from '../shell/notify.ts';
import { SecretKeyChoice } from './secret-key-choice.tsx';

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
