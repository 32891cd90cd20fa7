import { Button, PasswordInput, Stack, Text } from '@mantine/core';
import { IconKey } from '@tabler/icons-react';
import { useState } from 'react';
import type { SessionAnswer } from '../../../protocol/console/answers.ts';
import { useRights } from '../api/session.ts';
import { CopyText } from '../components/copy-text.tsx';
import { DetailPage, Fact, Facts, Section } from '../components/detail-page.tsx';
import { signedInBy } from '../text/signed-in-by.ts';
import { formatTime, formatUntil } from '../text/format.ts';
import { PolicyInForceView, Statements } from '../policies/statements.tsx';
import { useReplaceOwnSecret } from '../api/users.ts';
import { fieldError, FormDialog } from '../components/form-dialog.tsx';
import { notifyDone } from '../components/feedback.tsx';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

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
            {t.accessKeys.newSecretKey}
          </Button>
        )
      }
    >
      <Facts>
        <Fact name={t.accessKeys.signedInBy}>
          {session.signedInBy.kind === 'keys' ? t.accessKeys.accessKeyAndSecretKey : signedInBy(session)}
        </Fact>
        <Fact name={t.labels.accessKey}>
          <CopyText text={session.accessKey} />
        </Fact>
        <Fact name={t.accessKeys.signedIn}>{formatTime(session.signedInAt)}</Fact>
        <Fact
          name={t.accessKeys.sessionEnds}
        >{`${formatUntil(session.expires, Date.now())}, ${formatTime(session.expires)}`}</Fact>
        <Fact name={t.accessKeys.s3Endpoint}>
          {session.s3Url === undefined ? undefined : <CopyText text={session.s3Url} />}
        </Fact>
      </Facts>
      <Section title={t.accessKeys.policiesInForce}>
        <Policies session={session} />
      </Section>
      {session.sessionPolicy !== undefined && (
        <Section title={t.accessKeys.sessionPolicy} words={t.accessKeys.itRestrictsThePoliciesAboveBothMust}>
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
        {t.accessKeys.youAreTheRootUserYouMay}
      </Text>
    );
  }
  if (session.policies.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {say(t.accessKeys.noneSoNothingIsAllowedAnAdministrator, { where: from(session) })}
      </Text>
    );
  }
  return (
    <Stack gap="md">
      <Text size="sm" c="dimmed">
        {say(t.accessKeys.aDenyOverridesEveryAllow, {
          origin:
            session.signedInBy.kind === 'provider'
              ? t.accessKeys.yourIdentityProviderNamedThemWhenYou
              : t.accessKeys.attachedToYouOrToYourGroups,
        })}
      </Text>
      {session.policies.map((policy) => (
        <PolicyInForceView key={policy.name} policy={policy} />
      ))}
    </Stack>
  );
}

function from({ signedInBy: by }: SessionAnswer): string {
  return by.kind === 'provider' ? t.accessKeys.hereOrAtYourIdentityProvider : t.accessKeys.here;
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
          notifyDone(t.accessKeys.yourSecretKeyIsReplacedSignIn);
          onClose();
        },
      },
    );
  }

  return (
    <FormDialog
      title={t.accessKeys.replaceYourSecretKey}
      submit={t.accessKeys.replaceSecretKey}
      pending={replace.isPending}
      error={replace.error}
      fields={['currentSecretKey', 'secretKey']}
      onSubmit={submit}
      onClose={onClose}
    >
      <Text size="sm">{t.accessKeys.yourProgramsThatUseItNeedThe}</Text>
      <PasswordInput
        label={t.accessKeys.secretKeyNow}
        required
        withAsterisk={false}
        data-autofocus
        autoComplete="current-password"
        value={currentSecretKey}
        onChange={(event) => setCurrent(event.currentTarget.value)}
        error={fieldError(replace.error, 'currentSecretKey')}
      />
      <PasswordInput
        label={t.accessKeys.newSecretKeyTitle}
        description={t.accessKeys.n8To128Characters}
        required
        withAsterisk={false}
        autoComplete="new-password"
        value={secretKey}
        onChange={(event) => setSecretKey(event.currentTarget.value)}
        error={fieldError(replace.error, 'secretKey')}
      />
      <PasswordInput
        label={t.accessKeys.newSecretKeyAgain}
        required
        withAsterisk={false}
        autoComplete="new-password"
        value={again}
        onChange={(event) => setAgain(event.currentTarget.value)}
        error={differ ? t.accessKeys.thisIsNotTheSameAsAbove : undefined}
      />
    </FormDialog>
  );
}
