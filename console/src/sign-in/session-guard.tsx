import { basePath } from '../api/call.ts';
import { Alert, Anchor, Button, Group, Modal, PasswordInput, Stack, Text } from '@mantine/core';
import { useInterval } from '@mantine/hooks';
import { type SubmitEvent, useEffect, useState } from 'react';
import type { SessionAnswer } from '../../../protocol/console/answers.ts';
import { useDirectorySignIn, useSession, useSignIn, useSignOut } from '../api/session.ts';
import { endOf } from './session-end.ts';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

interface SessionGuardProps {
  /** The last session. The page stays as it is while its user signs in again, so that nothing that was typed is lost. */
  readonly session: SessionAnswer;
  readonly ended: boolean;
}

/** Warns a minute before the session ends, and asks to sign in again in place. */
export function SessionGuard({ session, ended }: SessionGuardProps) {
  const [now, setNow] = useState(() => Date.now());
  const [dismissed, setDismissed] = useState<string>();
  const clock = useInterval(() => setNow(Date.now()), 1_000, { autoInvoke: true });
  useEffect(() => clock.stop, [clock.stop]);
  const { state, seconds } = endOf(session.expires, now);
  if (!ended && (state === 'running' || dismissed === session.expires)) return null;
  const over = ended || state === 'over';
  return (
    <Modal
      opened
      onClose={() => (over ? undefined : setDismissed(session.expires))}
      withCloseButton={!over}
      closeOnEscape={!over}
      closeOnClickOutside={false}
      title={over ? t.signIn.yourSessionHasEnded : say(t.signIn.yourSessionEndsInS, { seconds })}
      overlayProps={over ? { backgroundOpacity: 0.6, blur: 14 } : { backgroundOpacity: 0.35 }}
    >
      <Stack gap="md">
        <Text size="sm">{say(t.signIn.signInAgainAsThisPageStays, { name: session.name })}</Text>
        <Again session={session} />
      </Stack>
    </Modal>
  );
}

function Again({ session }: { readonly session: SessionAnswer }) {
  const { signedInBy } = session;
  if (signedInBy.kind === 'provider') return <ProviderAgain id={signedInBy.id} name={signedInBy.displayName} />;
  return <SecretAgain session={session} />;
}

/** The provider has a page of its own, which opens in another window. */
function ProviderAgain({ id, name }: { readonly id: string; readonly name: string }) {
  const { refetch } = useSession();
  const watch = useInterval(() => void refetch(), 1_500);
  useEffect(() => watch.stop, [watch.stop]);
  return (
    <Group justify="space-between">
      <LeaveLink />
      <Button
        component="a"
        href={`${basePath()}/api/sign-in/${encodeURIComponent(id)}?to=%2Fsigned-in`}
        target="coffer-sign-in"
        rel="opener"
        onClick={watch.start}
      >
        {name}
      </Button>
    </Group>
  );
}

function SecretAgain({ session }: { readonly session: SessionAnswer }) {
  const byKeys = useSignIn();
  const byDirectory = useDirectorySignIn();
  const [secret, setSecret] = useState('');
  const directory = session.signedInBy.kind === 'directory';
  const { isPending, error } = directory ? byDirectory : byKeys;

  function submit(event: SubmitEvent<HTMLFormElement>): void {
    event.preventDefault();
    if (directory) byDirectory.mutate({ name: session.name, password: secret });
    else byKeys.mutate({ accessKey: session.accessKey, secretKey: secret });
  }

  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <PasswordInput
          label={
            directory
              ? say(t.signIn.passwordOf, { name: session.name })
              : say(t.signIn.secretKeyOf, { accessKey: session.accessKey })
          }
          autoComplete="current-password"
          visibilityToggleButtonProps={{ 'aria-label': t.signIn.showWhatIsTyped }}
          value={secret}
          onChange={(event) => setSecret(event.currentTarget.value)}
          required
          data-autofocus
        />
        {error !== null && (
          <Alert color="red" role="alert">
            {error.message}
          </Alert>
        )}
        <Group justify="space-between">
          <LeaveLink />
          <Button type="submit" loading={isPending}>
            {t.signIn.signIn}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function LeaveLink() {
  const signOut = useSignOut();
  return (
    <Anchor component="button" type="button" size="sm" onClick={() => signOut.mutate()}>
      {t.signIn.signInAsAnotherUser}
    </Anchor>
  );
}
