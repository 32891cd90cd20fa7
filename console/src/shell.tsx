import {
  ActionIcon,
  AppShell,
  Box,
  Burger,
  Group,
  Stack,
  Text,
  Tooltip,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core';
import { useDisclosure, useHotkeys } from '@mantine/hooks';
import {
  IconLogout,
  IconActivity,
  IconAdjustments,
  IconArrowsExchange,
  IconChartLine,
  IconDeviceLaptop,
  IconFileText,
  IconListSearch,
  IconLock,
  IconSettingsAutomation,
  IconFingerprint,
  IconKey,
  IconPackages,
  IconScale,
  IconShieldCheck,
  IconSnowflake,
  IconStack2,
  IconUser,
  IconUserCircle,
  IconUsersGroup,
  type Icon,
  IconMoon,
  IconSun,
} from '@tabler/icons-react';
import { Suspense, useEffect, useRef, type ReactNode } from 'react';
import { Link, useLocation } from 'react-router';
import type { ConsoleAction, SessionAnswer } from '../../protocol/console/answers.ts';
import { useSignOut, useRights } from './api/session.ts';
import { signedInBy } from './text/signed-in-by.ts';
import { notifyFailure } from './components/feedback.tsx';
import { lazyPart } from './components/lazy-page.tsx';
import { LanguageSelect } from './components/language-select.tsx';
import { useMenuKeys } from './components/menu-keys.ts';
import { t } from './texts/texts.ts';

/** Not needed for the first picture of a page. */
const WorkTray = lazyPart(async () => (await import('./uploads/work-tray.tsx')).WorkTray);

const ShortcutsDialog = lazyPart(async () => (await import('./components/shortcuts.tsx')).ShortcutsDialog);

/** Goes to the field that filters the page, if it has one. */
function focusFilter(): void {
  document.querySelector<HTMLInputElement>('#content input[data-filter]')?.focus();
}

interface ShellProps {
  readonly session: SessionAnswer;
  readonly children: ReactNode;
}

/** The frame around all pages. */
export function Shell({ session, children }: ShellProps) {
  const [open, { open: openMenu, close }] = useDisclosure();
  const menuButton = useRef<HTMLButtonElement>(null);
  const closeButton = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (open) closeButton.current?.focus();
  }, [open]);
  /** Closes the menu without opening a page. */
  const leaveMenu = () => {
    if (!open) return;
    close();
    menuButton.current?.focus();
  };
  const [keysShown, keys] = useDisclosure();
  useMenuKeys();
  useHotkeys([
    ['/', focusFilter],
    ['shift + ?', keys.open],
    ['?', keys.open],
    ['Escape', leaveMenu],
  ]);
  return (
    <AppShell
      layout="alt"
      navbar={{ width: 216, breakpoint: 'md', collapsed: { mobile: !open } }}
      header={{ height: { base: 48, md: 0 } }}
      padding={0}
      withBorder={false}
    >
      <a className="skip-link" href="#content">
        {t.shell.skipToTheContent}
      </a>
      <AppShell.Header hiddenFrom="md" px="md">
        <Group h="100%" gap="sm">
          <Burger ref={menuButton} opened={open} onClick={openMenu} size="sm" aria-label={t.shell.menu} />
          <Brand />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar
        p="sm"
        bg="var(--coffer-rail)"
        style={{ borderInlineEnd: '1px solid var(--coffer-line)' }}
        aria-label={t.shell.console}
        data-closed={!open || undefined}
      >
        <Group h={40} px={8} mb="sm" justify="space-between">
          <Brand />
          <Burger
            ref={closeButton}
            opened={open}
            onClick={leaveMenu}
            size="sm"
            hiddenFrom="md"
            aria-label={t.shell.closeTheMenu}
          />
        </Group>
        <Stack gap={2} onClick={close} flex={1} style={{ overflowY: 'auto' }}>
          <Rail />
        </Stack>
        <Box px={8} pt={4}>
          <LanguageSelect />
        </Box>
        <Person session={session} />
      </AppShell.Navbar>
      {open && <Box className="menu-backdrop" hiddenFrom="md" onClick={leaveMenu} />}
      <AppShell.Main id="content" tabIndex={-1}>
        <div style={{ maxWidth: 1240, padding: '22px clamp(16px, 3vw, 36px) 96px' }}>{children}</div>
      </AppShell.Main>
      <Suspense>
        <WorkTray />
        {keysShown && <ShortcutsDialog onClose={keys.close} />}
      </Suspense>
    </AppShell>
  );
}

function Brand() {
  return (
    <Group component={Link} gap={9} {...{ to: '/buckets' }} style={{ color: 'inherit', textDecoration: 'none' }}>
      <Logo size={24} />
      <Text fw={650} fz={16} lts="-0.01em">
        {t.shell.coffer}
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
          {session.kind === 'root' ? t.shell.rootUser : from}
        </Text>
      </Stack>
      <Group gap={2} wrap="nowrap">
        <ColorSchemeButton />
        <Tooltip label={t.shell.signOut}>
          <ActionIcon
            aria-label={t.shell.signOut}
            loading={signOut.isPending}
            onClick={() =>
              signOut.mutate(undefined, { onError: (error) => notifyFailure(t.shell.signingOutDidNotWork, error) })
            }
          >
            <IconLogout size={17} />
          </ActionIcon>
        </Tooltip>
      </Group>
    </Group>
  );
}

interface Page {
  readonly to: string;
  /** The URL of the detail page. */
  readonly one?: string;
  readonly name: string;
  readonly icon: Icon;
  readonly shown: boolean;
}

/** The rights of which one suffices to see a part of the page about background work. */
export const workNeeds: readonly ConsoleAction[] = [
  'admin:ServerInfo',
  'admin:ScrubStatus',
  'admin:VerifyStore',
  'admin:SnapshotStore',
  'admin:SetReadOnly',
  'admin:ServiceRestart',
];

/** Links to the pages that the user may use. The server authorizes the calls of all pages. */
function Rail() {
  const { may, mayOwn } = useRights();
  return (
    <>
      <Pages
        pages={[
          { to: '/buckets', name: t.labels.buckets, icon: IconPackages, shown: true },
          { to: '/access-keys', name: t.labels.accessKeys, icon: IconKey, shown: mayOwn('admin:ListServiceAccounts') },
          { to: '/account', name: t.shell.account, icon: IconUserCircle, shown: true },
        ]}
      />
      <Pages
        title={t.shell.access}
        pages={[
          { to: '/users', one: '/user', name: t.shell.users, icon: IconUser, shown: may('admin:ListUsers') },
          {
            to: '/groups',
            one: '/group',
            name: t.labels.groups,
            icon: IconUsersGroup,
            shown: may('admin:ListGroups') && may('admin:GetGroup'),
          },
          {
            to: '/policies',
            one: '/policy',
            name: t.labels.policies,
            icon: IconShieldCheck,
            shown: may('admin:ListUserPolicies'),
          },
          { to: '/sessions', name: t.shell.sessions, icon: IconDeviceLaptop, shown: may('admin:ListSessions') },
          { to: '/explain', name: t.labels.explain, icon: IconScale, shown: may('admin:ExplainPolicy') },
        ]}
      />
      <Pages
        title={t.shell.service}
        pages={[
          { to: '/status', name: t.labels.status, icon: IconActivity, shown: may('admin:ServerInfo') },
          {
            to: '/traffic',
            name: t.shell.traffic,
            icon: IconChartLine,
            shown: may('admin:Prometheus') || may('admin:DataUsageInfo'),
          },
          { to: '/requests', name: t.shell.requests, icon: IconArrowsExchange, shown: may('admin:ServerTrace') },
          { to: '/logs', name: t.shell.logs, icon: IconFileText, shown: may('admin:ConsoleLog') },
          { to: '/audit', name: t.shell.auditLog, icon: IconListSearch, shown: may('admin:ReadAuditLog') },
          {
            to: '/work',
            name: t.labels.backgroundWork,
            icon: IconSettingsAutomation,
            shown: workNeeds.some(may),
          },
          { to: '/batch-jobs', name: t.shell.batchJobs, icon: IconStack2, shown: may('admin:ListBatchJobs') },
          { to: '/tiers', name: t.shell.tiers, icon: IconSnowflake, shown: may('admin:ListTier') },
          { to: '/keys', name: t.shell.keys, icon: IconLock, shown: may('admin:KMSKeyStatus') },
          {
            to: '/identity-providers',
            one: '/identity-provider',
            name: t.labels.identityProviders,
            icon: IconFingerprint,
            shown: may('admin:ConfigUpdate'),
          },
          {
            to: '/configuration',
            name: t.shell.configuration,
            icon: IconAdjustments,
            shown: may('admin:ConfigUpdate'),
          },
        ]}
      />
    </>
  );
}

function Pages({ title, pages }: { readonly title?: string; readonly pages: readonly Page[] }) {
  const { pathname } = useLocation();
  const shown = pages.filter((page) => page.shown);
  if (shown.length === 0) return null;
  return (
    <>
      {title !== undefined && (
        <Text size="xs" c="dimmed" fw={600} px={10} pt="md" pb={4} component="h2">
          {title}
        </Text>
      )}
      {shown.map(({ to, one, name, icon: Symbol }) => (
        <Link
          key={to}
          to={to}
          ref={isAt(pathname, to) || pathname === one ? bringIntoSight : undefined}
          className="rail-link"
          aria-current={isAt(pathname, to) || pathname === one ? 'page' : undefined}
        >
          <Symbol size={18} stroke={1.6} aria-hidden />
          <span>{name}</span>
        </Link>
      ))}
    </>
  );
}

/** Scrolls the menu of a low window to the link of the page. */
function bringIntoSight(link: HTMLAnchorElement | null): void {
  const list = link?.parentElement;
  if (link === null || !list) return;
  const [at, shown] = [link.getBoundingClientRect(), list.getBoundingClientRect()];
  if (at.bottom > shown.bottom || at.top < shown.top) list.scrollTop += at.top - shown.top - shown.height / 2;
}

function isAt(pathname: string, to: string): boolean {
  return pathname === to || pathname.startsWith(`${to}/`);
}

export function ColorSchemeButton() {
  const { setColorScheme } = useMantineColorScheme();
  const dark = useComputedColorScheme('light') === 'dark';
  const label = dark ? t.shell.useLightColours : t.shell.useDarkColours;
  return (
    <Tooltip label={label}>
      <ActionIcon aria-label={label} onClick={() => setColorScheme(dark ? 'light' : 'dark')}>
        {dark ? <IconSun size={17} /> : <IconMoon size={17} />}
      </ActionIcon>
    </Tooltip>
  );
}

export function Logo({ size = 26 }: { readonly size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" fill="var(--coffer-accent)" aria-hidden>
      <path d="M4 13.5V12a6.5 6.5 0 0 1 6.5-6.5h11A6.5 6.5 0 0 1 28 12v1.5h-8.6a3.6 3.6 0 0 0-6.8 0z" />
      <path d="M4 16h8.3v1.6a3.7 3.7 0 0 0 7.4 0V16H28v8a2.5 2.5 0 0 1-2.5 2.5h-19A2.5 2.5 0 0 1 4 24z" />
      <path d="M14.7 14.6a1.3 1.3 0 0 1 2.6 0v3a1.3 1.3 0 0 1-2.6 0z" />
    </svg>
  );
}
