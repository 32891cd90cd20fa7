import { PasswordInput, Text } from '@mantine/core';
import { useState } from 'react';
import { useReplaceOwnSecret } from '../api/users.ts';
import { fieldError, FormDialog } from '../shell/form-dialog.tsx';
import { notifyDone } from '../shell/notify.ts';

/** Users give themselves another secret key, and sign in with it anew. */
export function OwnSecretDialog({ onClose }: { readonly onClose: () => void }) {
  const replace = useReplaceOwnSecret();
  const [currentSecretKey, setCurrent] = useState('');
  const [secretKey, setSecretKey] = useState('');
  const [again, setAgain] = useState('');
  const [differ, setDiffer] = useState(false);

  function submit(): void {
    setDiffer(secretKey !== again);
    if (secretKey !== again) return;
    replace.mutate(
      { currentSecretKey, secretKey },
      {
        onSuccess: () => {
          notifyDone('Your secret key is replaced. Sign in with the new one.');
          onClose();
        },
      },
    );
  }

  return (
    <FormDialog
      title="Replace your secret key"
      submit="Replace secret key"
      pending={replace.isPending}
      error={replace.error}
      fields={['currentSecretKey', 'secretKey']}
      onSubmit={submit}
      onClose={onClose}
    >
      <Text size="sm">Your programs that use it need the new one; this session ends.</Text>
      <PasswordInput
        label="Secret key now"
        required
        withAsterisk={false}
        data-autofocus
        autoComplete="current-password"
        value={currentSecretKey}
        onChange={(event) => setCurrent(event.currentTarget.value)}
        error={fieldError(replace.error, 'currentSecretKey')}
      />
      <PasswordInput
        label="New secret key"
        description="8 to 128 characters."
        required
        withAsterisk={false}
        autoComplete="new-password"
        value={secretKey}
        onChange={(event) => setSecretKey(event.currentTarget.value)}
        error={fieldError(replace.error, 'secretKey')}
      />
      <PasswordInput
        label="New secret key again"
        required
        withAsterisk={false}
        autoComplete="new-password"
        value={again}
        onChange={(event) => setAgain(event.currentTarget.value)}
        error={differ ? 'This is not the same as above.' : undefined}
      />
    </FormDialog>
  );
}
