import { SegmentedControl, Anchor, TextInput, Alert, Button, PasswordInput, Stack } from '@mantine/core';
import { useState, type ReactNode, type SubmitEvent } from 'react';
import { useSignIn, useDirectorySignIn } from '../api/session.ts';
import { loadPageTexts, t } from '../texts/texts.ts';
import { useDraft } from '../components/use-draft.ts';

type Way = 'directory' | 'keys';

/** The user chooses between directory and access key: neither input is sent to the other. The directory comes first. */
export function NameForms() {
  const [way, setWay] = useDraft<Way>('way', 'directory');
  return (
    <>
      <SegmentedControl
        aria-label={t.signIn.signInBy}
        fullWidth
        value={way}
        onChange={(chosen) => setWay(chosen === 'keys' ? 'keys' : 'directory')}
        data={[
          { value: 'directory', label: t.signIn.directory },
          { value: 'keys', label: t.signIn.keys },
        ]}
      />
      {way === 'directory' ? <DirectoryForm /> : <KeysForm />}
    </>
  );
}

export function KeysForm() {
  const signIn = useSignIn();
  const [sessionToken, setSessionToken] = useState<string>();
  return (
    <SignInForm
      nameLabel={t.labels.accessKey}
      secretLabel={t.labels.secretKey}
      pending={signIn.isPending}
      error={signIn.error}
      onSubmit={(accessKey, secretKey) => signIn.mutate({ accessKey, secretKey, sessionToken })}
    >
      {sessionToken === undefined ? (
        <Anchor
          component="button"
          type="button"
          size="xs"
          c="dimmed"
          ta="left"
          underline="always"
          onClick={() => setSessionToken('')}
        >
          {t.signIn.myKeysAreTemporaryAndHaveA}
        </Anchor>
      ) : (
        <TextInput
          label={t.signIn.sessionToken}
          autoComplete="off"
          spellCheck={false}
          value={sessionToken}
          onChange={(event) => setSessionToken(event.currentTarget.value)}
        />
      )}
    </SignInForm>
  );
}

function DirectoryForm() {
  const signIn = useDirectorySignIn();
  return (
    <SignInForm
      nameLabel={t.labels.name}
      secretLabel={t.signIn.password}
      pending={signIn.isPending}
      error={signIn.error}
      onSubmit={(name, password) => signIn.mutate({ name, password })}
    />
  );
}

interface SignInFormProps {
  readonly nameLabel: string;
  readonly secretLabel: string;
  readonly pending: boolean;
  readonly error: Error | null;
  readonly onSubmit: (name: string, secret: string) => void;
  readonly children?: ReactNode;
}

/** A name and a password, which password managers fill in. */
function SignInForm({ nameLabel, secretLabel, pending, error, onSubmit, children }: SignInFormProps) {
  const [name, setName] = useDraft('name', '');
  const [secret, setSecret] = useState('');

  function submit(event: SubmitEvent<HTMLFormElement>): void {
    event.preventDefault();
    onSubmit(name, secret);
  }

  return (
    <form onSubmit={submit} onFocus={() => void loadFirstPage()}>
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
          {t.signIn.signIn}
        </Button>
      </Stack>
    </form>
  );
}

/** Loads the page that follows the sign-in, while the user types. */
async function loadFirstPage(): Promise<void> {
  try {
    // The modules of the pages read the texts.
    await loadPageTexts();
    await Promise.all([import('../buckets/buckets-page.tsx'), import('../uploads/work-tray.tsx')]);
  } catch {
    // The page is loaded again when it is opened, and shows the error then.
  }
}
