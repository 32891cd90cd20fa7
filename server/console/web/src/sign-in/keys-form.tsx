import { Anchor, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useSignIn } from '../api/session.ts';
import { SignInForm } from './sign-in-form.tsx';

export function KeysForm() {
  const signIn = useSignIn();
  const [sessionToken, setSessionToken] = useState<string>();
  return (
    <SignInForm
      nameLabel="Access key"
      secretLabel="Secret key"
      pending={signIn.isPending}
      error={signIn.error}
      onSubmit={(accessKey, secretKey) =>
        signIn.mutate({ accessKey, secretKey, ...(sessionToken === undefined ? {} : { sessionToken }) })
      }
    >
      {sessionToken === undefined ? (
        <Anchor component="button" type="button" size="xs" c="dimmed" ta="left" onClick={() => setSessionToken('')}>
          My keys are temporary and have a session token
        </Anchor>
      ) : (
        <TextInput
          label="Session token"
          autoComplete="off"
          spellCheck={false}
          value={sessionToken}
          onChange={(event) => setSessionToken(event.currentTarget.value)}
        />
      )}
    </SignInForm>
  );
}
