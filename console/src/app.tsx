import { Center, Loader, Anchor } from '@mantine/core';
import { Suspense, type ReactNode } from 'react';
import { Navigate, Route, Routes, useLocation, Link } from 'react-router';
import type { ConsoleAction } from '../../protocol/console/answers.ts';
import { useLastSession, useSession } from './api/session.ts';
import { Failure, Empty } from './components/feedback.tsx';
import { useKeptFocus } from './components/kept-focus.ts';
import { lazyPage } from './components/lazy-page.tsx';
import { LoadingRows } from './components/list-page.tsx';
import { PageGate } from './components/page-gate.tsx';
import { Shell, workNeeds } from './shell.tsx';
import { SessionGuard } from './sign-in/session-guard.tsx';
import { SignedInPage } from './sign-in/signed-in-page.tsx';
import { SignInPage } from './sign-in/sign-in-page.tsx';
import { IconMapOff } from '@tabler/icons-react';
import { t } from './texts/texts.ts';

/* Each page is loaded when it is opened. */
const AccessKeysPage = lazyPage(async () => (await import('./access-keys/access-keys-page.tsx')).AccessKeysPage);
const AccountPage = lazyPage(async () => (await import('./account/account-page.tsx')).AccountPage);
const BucketsPage = lazyPage(async () => (await import('./buckets/buckets-page.tsx')).BucketsPage);
const ExplainPage = lazyPage(async () => (await import('./explain/explain-page.tsx')).ExplainPage);
const GroupPage = lazyPage(async () => (await import('./groups/group-page.tsx')).GroupPage);
const GroupsPage = lazyPage(async () => (await import('./groups/groups-page.tsx')).GroupsPage);
const ObjectsPage = lazyPage(async () => (await import('./objects/objects-page.tsx')).ObjectsPage);
const NewPolicyPage = lazyPage(async () => (await import('./policies/new-policy-page.tsx')).NewPolicyPage);
const PoliciesPage = lazyPage(async () => (await import('./policies/policies-page.tsx')).PoliciesPage);
const PolicyPage = lazyPage(async () => (await import('./policies/policy-page.tsx')).PolicyPage);
const NewProviderPage = lazyPage(async () => (await import('./providers/new-provider-page.tsx')).NewProviderPage);
const ProviderPage = lazyPage(async () => (await import('./providers/provider-page.tsx')).ProviderPage);
const ProvidersPage = lazyPage(async () => (await import('./providers/providers-page.tsx')).ProvidersPage);
const StatusPage = lazyPage(async () => (await import('./status/status-page.tsx')).StatusPage);
const TrafficPage = lazyPage(async () => (await import('./operations/traffic-page.tsx')).TrafficPage);
const RequestsPage = lazyPage(async () => (await import('./operations/requests-page.tsx')).RequestsPage);
const LogsPage = lazyPage(async () => (await import('./operations/logs-page.tsx')).LogsPage);
const AuditPage = lazyPage(async () => (await import('./operations/audit-page.tsx')).AuditPage);
const WorkPage = lazyPage(async () => (await import('./operations/work-page.tsx')).WorkPage);
const ConfigurationPage = lazyPage(async () => (await import('./operations/configuration-page.tsx')).ConfigurationPage);
const BatchPage = lazyPage(async () => (await import('./operations/batch/batch-page.tsx')).BatchPage);
const TiersPage = lazyPage(async () => (await import('./operations/tiers/tiers-page.tsx')).TiersPage);
const KeysPage = lazyPage(async () => (await import('./keys/keys-page.tsx')).KeysPage);
const UserPage = lazyPage(async () => (await import('./users/user-page.tsx')).UserPage);
const SessionsPage = lazyPage(async () => (await import('./users/sessions-page.tsx')).SessionsPage);
const UsersPage = lazyPage(async () => (await import('./users/users-page.tsx')).UsersPage);
const BucketSettingsPage = lazyPage(
  async () => (await import('./bucket-settings/settings-page.tsx')).BucketSettingsPage,
);

export function App() {
  const { pathname } = useLocation();
  useKeptFocus(pathname);
  return (
    <Routes>
      <Route path="/sign-in" element={<SignInPage />} />
      <Route path="/signed-in" element={<SignedInPage />} />
      <Route path="*" element={<SignedIn />} />
    </Routes>
  );
}

/** The pages that need a session. */
function SignedIn() {
  const session = useSession();
  const last = useLastSession();
  const { pathname, search } = useLocation();
  if (session.isPending) {
    return (
      <Center h="100vh">
        <Loader aria-label={t.shell.loading} />
      </Center>
    );
  }
  if (session.isError) {
    return (
      <Center h="100vh" p="md">
        <Failure what={t.shell.theConsoleCannotBeShown} error={session.error} retry={session.refetch} />
      </Center>
    );
  }
  if (last === undefined) {
    const here = `${pathname}${search}`;
    return <Navigate replace to={here === '/' ? '/sign-in' : `/sign-in?${new URLSearchParams({ to: here })}`} />;
  }
  return (
    <Shell session={last.session}>
      <SessionGuard session={last.session} ended={last.ended} />
      <Suspense fallback={<LoadingRows />}>
        <Routes>
          <Route path="/" element={<Navigate replace to="/buckets" />} />
          <Route path="/buckets" element={<BucketsPage />} />
          <Route path="/buckets/:bucket" element={<ObjectsPage />} />
          <Route path="/buckets/:bucket/settings" element={<BucketSettingsPage />} />
          <Route path="/access-keys" element={<AccessKeysPage />} />
          <Route path="/users" element={<UsersPage />} />
          <Route path="/sessions" element={<SessionsPage />} />
          <Route path="/user" element={<UserPage />} />
          <Route path="/groups" element={<GroupsPage />} />
          <Route path="/group" element={<GroupPage />} />
          <Route path="/policies" element={<PoliciesPage />} />
          <Route path="/policies/new" element={gated(t.shell.newPolicy, ['admin:CreatePolicy'], <NewPolicyPage />)} />
          <Route path="/policy" element={<PolicyPage />} />
          <Route path="/explain" element={gated(t.labels.explain, ['admin:ExplainPolicy'], <ExplainPage />)} />
          <Route
            path="/identity-providers"
            element={gated(t.labels.identityProviders, ['admin:ConfigUpdate'], <ProvidersPage />)}
          />
          <Route
            path="/identity-providers/new"
            element={gated(t.labels.identityProviders, ['admin:ConfigUpdate'], <NewProviderPage />)}
          />
          <Route
            path="/identity-provider"
            element={gated(t.labels.identityProviders, ['admin:ConfigUpdate'], <ProviderPage />)}
          />
          <Route path="/status" element={gated(t.labels.status, ['admin:ServerInfo'], <StatusPage />)} />
          <Route
            path="/traffic"
            element={gated(t.shell.traffic, ['admin:Prometheus', 'admin:DataUsageInfo'], <TrafficPage />)}
          />
          <Route path="/requests" element={gated(t.shell.requests, ['admin:ServerTrace'], <RequestsPage />)} />
          <Route path="/logs" element={gated(t.shell.logs, ['admin:ConsoleLog'], <LogsPage />)} />
          <Route path="/audit" element={gated(t.shell.auditLog, ['admin:ReadAuditLog'], <AuditPage />)} />
          <Route path="/work" element={gated(t.labels.backgroundWork, workNeeds, <WorkPage />)} />
          <Route
            path="/batch-jobs"
            element={gated(t.shell.batchJobs, ['admin:ListBatchJobs', 'admin:StartBatchJob'], <BatchPage />)}
          />
          <Route path="/tiers" element={gated(t.shell.tiers, ['admin:ListTier', 'admin:SetTier'], <TiersPage />)} />
          <Route
            path="/configuration"
            element={gated(t.shell.configuration, ['admin:ConfigUpdate'], <ConfigurationPage />)}
          />
          <Route path="/keys" element={<KeysPage />} />
          <Route path="/account" element={<AccountPage session={last.session} />} />
          <Route path="*" element={<NotFoundPage />} />
        </Routes>
      </Suspense>
    </Shell>
  );
}

function gated(title: string, needs: readonly ConsoleAction[], page: ReactNode) {
  return (
    <PageGate title={title} needs={needs}>
      {page}
    </PageGate>
  );
}

function NotFoundPage() {
  return (
    <Empty icon={IconMapOff} title={t.shell.thereIsNoSuchPage} order={1}>
      <Anchor component={Link} to="/buckets" size="sm">
        {t.shell.goToYourBuckets}
      </Anchor>
    </Empty>
  );
}
