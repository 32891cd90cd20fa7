import { basePath } from '../api/call.ts';
import { Alert, Box, Button, Center, Divider, Group, Paper, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { IconAlertCircle, IconArrowRight } from '@tabler/icons-react';
import { Navigate, useSearchParams } from 'react-router';
import type { SignInOptions } from '../../../protocol/console/answers.ts';
import { useSession, useSignInOptions } from '../api/session.ts';
import { ColorSchemeButton, Logo } from '../shell.tsx';
import { Failure } from '../components/feedback.tsx';
import { KeysForm, NameForms } from './sign-in-forms.tsx';
import { LanguageSelect } from '../components/language-select.tsx';
import { t } from '../texts/texts.ts';

export function SignInPage() {
  useDocumentTitle(t.signIn.signInCoffer);
  const session = useSession();
  const options = useSignInOptions();
  const [search] = useSearchParams();
  const to = localPath(search.get('to'));
  if (session.data !== undefined && session.data !== null) return <Navigate replace to={to} />;
  const providers = options.data?.providers ?? [];
  const directory = options.data?.directory === true;
  return (
    <Center mih="100vh" p="md" bg="var(--coffer-rail)" component="main">
      <Box w="100%" maw={384}>
        <Group gap="sm" mb="lg" justify="center">
          <Logo size={34} />
          <Title order={1} fz={24} lts="-0.02em">
            {t.shell.coffer}
          </Title>
        </Group>
        <Paper p="xl" radius="md" bg="var(--coffer-surface)">
          <Stack gap="md">
            {options.data?.notice !== undefined && (
              <Alert color="red" icon={<IconAlertCircle size={18} />} title={t.signIn.youAreNotSignedIn} role="alert">
                <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
                  {options.data.notice}
                </Text>
              </Alert>
            )}
            {options.isPending && <Skeleton h={36} />}
            {options.isError && (
              <Failure what={t.signIn.waysToSignInCannotBeLoaded} error={options.error} retry={options.refetch} />
            )}
            {/* The ways that work come first. */}
            {providers
              .toSorted((a, b) => Number(b.ready) - Number(a.ready))
              .map((provider) => (
                <ProviderButton key={provider.id} provider={provider} to={to} />
              ))}
            {providers.length > 0 && (
              <Divider label={directory ? t.signIn.orWithANameAndPassword : t.signIn.orWithAnAccessKey} />
            )}
            {directory ? <NameForms /> : <KeysForm />}
          </Stack>
        </Paper>
        <Group justify="center" mt="md">
          <LanguageSelect />
          <ColorSchemeButton />
        </Group>
      </Box>
    </Center>
  );
}

interface ProviderButtonProps {
  readonly provider: SignInOptions['providers'][number];
  readonly to: string;
}

function ProviderButton({ provider, to }: ProviderButtonProps) {
  if (!provider.ready) {
    return (
      <div>
        <Button fullWidth disabled size="md">
          {provider.displayName}
        </Button>
        <Text size="xs" c="dimmed" mt={6} style={{ overflowWrap: 'anywhere' }}>
          {t.signIn.doesNotAnswerNow}
        </Text>
      </div>
    );
  }
  return (
    <Button
      component="a"
      href={`${basePath()}/api/sign-in/${encodeURIComponent(provider.id)}?${new URLSearchParams({ to })}`}
      fullWidth
      size="md"
      rightSection={<IconArrowRight size={16} />}
    >
      {provider.displayName}
    </Button>
  );
}

/** The page to open after the sign-in, which is always a page of this console. The server checks its own redirects too. */
function localPath(wanted: string | null): string {
  return wanted !== null && /^\/(?![/\\])/.test(wanted) && !wanted.startsWith('/sign-in') ? wanted : '/';
}
