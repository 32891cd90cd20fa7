import { Button, PasswordInput, Stack, Text } from '@mantine/core';
import { IconKey } from '@tabler/icons-react';
import { useState } from 'react';
import type { SessionAnswer } from '../../../contract/answers.ts';
import { useRights } from '../api/session.ts';
import { CopyText } from '../components/copy-text.tsx';
import { DetailPage, Fact, Facts, Section } from '../components/detail-page.tsx';
import { signedInBy } from '../text/signed-in-by.ts';
import { formatTime, formatUntil } from '../text/format.ts';
import { PolicyInForceView, Statements } from '../policies/statements.tsx';
import { useReplaceOwnSecret } from '../api/users.ts';
import { fieldError, FormDialog } from '../components/form-dialog.tsx';
import { notifyDone } from '../components/feedback.tsx';

export function AccountPage({ session }: { readonly session: SessionAnswer }) {
  const { mayOwn } = useRights();
  const [changing, setChanging] = useState(false);
  return (
    <DetailPage
      title={session.name}
      actions={
        session.kind === 'user' &&
        mayOwn('admin:CreateUser') && (
          <Button variant="default" leftSection={<IconKey size={16} />} onClick={() => setChanging(true)}>
            New secret key…
          </Button>
        )
      }
    >
      <Facts>
        <Fact name="Signed in by">
          {session.signedInBy.kind === 'keys' ? 'access key and secret key' : signedInBy(session)}
        </Fact>
        <Fact name="Access key">
          <CopyText text={session.accessKey} />
        </Fact>
        <Fact name="Signed in">{formatTime(session.signedInAt)}</Fact>
        <Fact name="Session ends">{`${formatUntil(session.expires, Date.now())}, ${formatTime(session.expires)}`}</Fact>
        <Fact name="S3 endpoint">{session.s3Url === undefined ? undefined : <CopyText text={session.s3Url} />}</Fact>
      </Facts>
      <Section title="Policies in force">
        <Policies session={session} />
      </Section>
      {session.sessionPolicy !== undefined && (
        <Section title="Session policy" words="It restricts the policies above: both must allow an action.">
          <Statements statements={session.sessionPolicy} />
        </Section>
      )}
      {changing && <OwnSecretDialog onClose={() => setChanging(false)} />}
    </DetailPage>
  );
}

function Policies({ session }: { readonly session: SessionAnswer }) {
  if (session.kind === 'root') {
    return (
      <Text size="sm" c="dimmed">
        You are the root user: you may do everything, and no policy restricts you.
      </Text>
    );
  }
  if (session.policies.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        None, so nothing is allowed. An administrator can assign policies {from(session)}.
      </Text>
    );
  }
  return (
    <Stack gap="md">
      <Text size="sm" c="dimmed">
        {session.signedInBy.kind === 'provider'
          ? 'Your identity provider named them when you signed in, or they are attached to your claims here.'
          : 'Attached to you or to your groups.'}{' '}
        A Deny overrides every Allow.
      </Text>
      {session.policies.map((policy) => (
        <PolicyInForceView key={policy.name} policy={policy} />
      ))}
    </Stack>
  );
}

function from({ signedInBy: by }: SessionAnswer): string {
  return by.kind === 'provider' ? 'here or at your identity provider' : 'here';
}

/** Users replace their secret key, and sign in again with the new one. */
function OwnSecretDialog({ onClose }: { readonly onClose: () => void }) {
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
