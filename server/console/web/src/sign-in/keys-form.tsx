import { Alert, Anchor, Button, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { SubmitEvent } from 'react';
import { useSignIn } from '../api/session.ts';

export function KeysForm() {
  const signIn = useSignIn();
  const [accessKey, setAccessKey] = useState('');
  const [secretKey, setSecretKey] = useState('');
  const [sessionToken, setSessionToken] = useState<string>();

  function submit(event: SubmitEvent<HTMLFormElement>): void {
    event.preventDefault();
    signIn.mutate({ accessKey, secretKey, ...(sessionToken === undefined ? {} : { sessionToken }) });
  }

  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <TextInput
          label="Access key"
          name="username"
          autoComplete="username"
          autoCapitalize="none"
          spellCheck={false}
          required
          withAsterisk={false}
          value={accessKey}
          onChange={(event) => setAccessKey(event.currentTarget.value)}
        />
        <PasswordInput
          label="Secret key"
          name="password"
          autoComplete="current-password"
          required
          withAsterisk={false}
          value={secretKey}
          onChange={(event) => setSecretKey(event.currentTarget.value)}
        />
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
        {signIn.isError && (
          <Alert color="red" role="alert" py="xs">
            {signIn.error.message}
          </Alert>
        )}
        <Button type="submit" variant="default" loading={signIn.isPending}>
          Sign in
        </Button>
      </Stack>
    </form>
  );
}
