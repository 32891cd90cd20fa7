import { Alert, Stack, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { PolicyInForce, SessionAnswer } from '../../../contract/answers.ts';
import { CopyText } from '../shell/copy-text.tsx';
import { providerName } from '../text/provider-name.ts';
import { formatTime, formatUntil } from '../text/time.ts';
import { Statements } from './statements.tsx';

export function AccountPage({ session }: { readonly session: SessionAnswer }) {
  useDocumentTitle('Account · Coffer');
  return (
    <Stack gap="xl" maw={860}>
      <div>
        <Title order={1} mih={36}>
          {session.name}
        </Title>
        <dl className="facts">
          <dt>Signed in by</dt>
          <dd>
            {session.signedInBy.kind === 'provider'
              ? providerName(session.signedInBy.displayName)
              : 'access key and secret key'}
          </dd>
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
      <section>
        <Title order={2} mb={4}>
          Policies in force
        </Title>
        <Policies session={session} />
      </section>
      {session.sessionPolicy !== undefined && (
        <Section title="Session policy" words="Narrows the policies above: both must allow an action.">
          <Statements statements={session.sessionPolicy} />
        </Section>
      )}
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
        None, so nothing is allowed. Whoever manages access at your identity provider can give you some.
      </Text>
    );
  }
  return (
    <Stack gap="md">
      <Text size="sm" c="dimmed">
        Named by your identity provider when you signed in. A denial wins over whatever allows the same.
      </Text>
      {session.policies.map((policy) => (
        <Policy key={policy.name} policy={policy} />
      ))}
    </Stack>
  );
}

function Policy({ policy }: { readonly policy: PolicyInForce }) {
  return (
    <section>
      <Title order={3} fz="md" mb="xs" className="mono">
        {policy.name}
      </Title>
      {policy.statements === undefined ? (
        <Alert color="yellow" icon={<IconAlertTriangle size={18} />}>
          No policy has this name here, so it allows nothing. Whoever manages access can create it, or correct the name
          at the identity provider.
        </Alert>
      ) : (
        <Statements statements={policy.statements} />
      )}
    </section>
  );
}

interface SectionProps {
  readonly title: string;
  readonly words: string;
  readonly children: ReactNode;
}

function Section({ title, words, children }: SectionProps) {
  return (
    <section>
      <Title order={2} mb={4}>
        {title}
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        {words}
      </Text>
      {children}
    </section>
  );
}
