import { ActionIcon, AppShell, Burger, Group, Stack, Text, Tooltip } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconLogout } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import type { SessionAnswer } from '../../../contract/answers.ts';
import { useSignOut } from '../api/session.ts';
import { signedInBy } from '../text/signed-in-by.ts';
import { UploadTray } from '../uploads/upload-tray.tsx';
import { ColorSchemeButton } from './color-scheme-button.tsx';
import { Logo } from './logo.tsx';
import { notifyFailure } from './notify.ts';
import { Rail } from './rail.tsx';

interface ShellProps {
  readonly session: SessionAnswer;
  readonly children: ReactNode;
}

/** What stays on the screen while the pages change. */
export function Shell({ session, children }: ShellProps) {
  const [open, { toggle, close }] = useDisclosure();
  return (
    <AppShell
      layout="alt"
      navbar={{ width: 216, breakpoint: 'sm', collapsed: { mobile: !open } }}
      header={{ height: { base: 48, sm: 0 } }}
      padding={0}
      withBorder={false}
    >
      <AppShell.Header hiddenFrom="sm" px="md">
        <Group h="100%" gap="sm">
          <Burger opened={open} onClick={toggle} size="sm" aria-label="Menu" />
          <Brand />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar
        p="sm"
        bg="var(--coffer-rail)"
        style={{ borderInlineEnd: '1px solid var(--coffer-line)' }}
        aria-label="Console"
      >
        <Group h={40} px={8} mb="sm" justify="space-between">
          <Brand />
          <Burger opened={open} onClick={toggle} size="sm" hiddenFrom="sm" aria-label="Close the menu" />
        </Group>
        <Stack gap={2} onClick={close} flex={1} style={{ overflowY: 'auto' }}>
          <Rail />
        </Stack>
        <Person session={session} />
      </AppShell.Navbar>
      <AppShell.Main>
        <div style={{ maxWidth: 1240, padding: '22px clamp(16px, 3vw, 36px) 96px' }}>{children}</div>
      </AppShell.Main>
      <UploadTray />
    </AppShell>
  );
}

function Brand() {
  return (
    <Group component={Link} gap={9} {...{ to: '/buckets' }} style={{ color: 'inherit', textDecoration: 'none' }}>
      <Logo size={24} />
      <Text fw={650} fz={16} lts="-0.01em">
        Coffer
      </Text>
    </Group>
  );
}

function Person({ session }: { readonly session: SessionAnswer }) {
  const signOut = useSignOut();
  const from = signedInBy(session);
  return (
    <Group justify="space-between" wrap="nowrap" gap={4} pt="sm" style={{ borderTop: '1px solid var(--coffer-line)' }}>
      <Stack gap={0} miw={0} pl={8}>
        <Text size="sm" fw={550} truncate>
          {session.name}
        </Text>
        <Text size="xs" c="dimmed" truncate>
          {session.kind === 'root' ? 'root user' : from}
        </Text>
      </Stack>
      <Group gap={2} wrap="nowrap">
        <ColorSchemeButton />
        <Tooltip label="Sign out">
          <ActionIcon
            aria-label="Sign out"
            loading={signOut.isPending}
            onClick={() =>
              signOut.mutate(undefined, { onError: (error) => notifyFailure('Signing out did not work', error) })
            }
          >
            <IconLogout size={17} />
          </ActionIcon>
        </Tooltip>
      </Group>
    </Group>
  );
}
