import { Button, Group, Stack, Text, Title, PasswordInput } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { IconKey } from '@tabler/icons-react';
import { useState } from 'react';
import type { SessionAnswer } from '../../../contract/answers.ts';
import { useRights } from '../api/session.ts';
import { CopyText } from '../components/copy-text.tsx';
import { Section } from '../components/detail-page.tsx';
import { signedInBy } from '../text/signed-in-by.ts';
import { formatTime, formatUntil } from '../text/format.ts';
import { PolicyInForceView, Statements } from '../policies/statements.tsx';
import { useReplaceOwnSecret } from '../api/users.ts';
import { fieldError, FormDialog } from '../components/form-dialog.tsx';
import { notifyDone } from '../components/feedback.tsx';

export function AccountPage({ session }: { readonly session: SessionAnswer }) {
  useDocumentTitle('Account · Coffer');
  const { mayOwn } = useRights();
  const [changing, setChanging] = useState(false);
  return (
    <Stack gap="xl" maw={860}>
      <div>
        <Group justify="space-between" mih={36} mb="xs">
          <Title order={1}>{session.name}</Title>
          {session.kind === 'user' && mayOwn('admin:CreateUser') && (
            <Button variant="default" leftSection={<IconKey size={16} />} onClick={() => setChanging(true)}>
              New secret key…
            </Button>
          )}
        </Group>
        <dl className="facts">
          <dt>Signed in by</dt>
          <dd>{session.signedInBy.kind === 'keys' ? 'access key and secret key' : signedInBy(session)}</dd>
          <dt>Access key</dt>
          <dd>
            <CopyText text={session.accessKey} />
          </dd>
          <dt>Signed in</dt>
          <dd>{formatTime(session.signedInAt)}</dd>
          <dt>Session ends</dt>
          <dd>
            {formatUntil(session.expires, Date.now())}, {formatTime(session.expires)}
          </dd>
          {session.s3Url !== undefined && (
            <>
              <dt>S3 endpoint</dt>
              <dd>
                <CopyText text={session.s3Url} />
              </dd>
            </>
          )}
        </dl>
      </div>
      <Section title="Policies in force">
        <Policies session={session} />
      </Section>
      {session.sessionPolicy !== undefined && (
        <Section title="Session policy" words="Narrows the policies above: both must allow an action.">
          <Statements statements={session.sessionPolicy} />
        </Section>
      )}
      {changing && <OwnSecretDialog onClose={() => setChanging(false)} />}
    </Stack>
  );
}

function Policies({ session }: { readonly session: SessionAnswer }) {
  if (session.kind === 'root') {
    return (
      <Text size="sm" c="dimmed">
        You are the root user: you may do everything, and no policy narrows it.
      </Text>
    );
  }
  if (session.policies.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        None, so nothing is allowed. Whoever manages access {from(session)} can give you some.
      </Text>
    );
  }
  return (
    <Stack gap="md">
      <Text size="sm" c="dimmed">
        {session.signedInBy.kind === 'provider'
          ? 'Named by your identity provider when you signed in, or attached here to what it says of you.'
          : 'Attached to you or to your groups.'}{' '}
        A denial wins over whatever allows the same.
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

/** Users give themselves another secret key, and sign in with it anew. */
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
