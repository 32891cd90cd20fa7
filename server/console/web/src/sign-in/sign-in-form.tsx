import { Alert, Button, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { ReactNode, SubmitEvent } from 'react';

interface SignInFormProps {
  readonly nameLabel: string;
  readonly secretLabel: string;
  readonly pending: boolean;
  readonly error: Error | null;
  readonly onSubmit: (name: string, secret: string) => void;
  /** More fields. */
  readonly children?: ReactNode;
}

/** A name and what proves it, as the browser's own keeper of passwords fills them in. */
export function SignInForm({ nameLabel, secretLabel, pending, error, onSubmit, children }: SignInFormProps) {
  const [name, setName] = useState('');
  const [secret, setSecret] = useState('');

  function submit(event: SubmitEvent<HTMLFormElement>): void {
    event.preventDefault();
    onSubmit(name, secret);
  }

  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <TextInput
          label={nameLabel}
          name="username"
          autoComplete="username"
          autoCapitalize="none"
          spellCheck={false}
          required
          withAsterisk={false}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <PasswordInput
          label={secretLabel}
          name="password"
          autoComplete="current-password"
          required
          withAsterisk={false}
          value={secret}
          onChange={(event) => setSecret(event.currentTarget.value)}
        />
        {children}
        {error !== null && (
          <Alert color="red" role="alert" py="xs" style={{ overflowWrap: 'anywhere' }}>
            {error.message}
          </Alert>
        )}
        <Button type="submit" variant="default" loading={pending}>
          Sign in
        </Button>
      </Stack>
    </form>
  );
}
