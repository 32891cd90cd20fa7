import { Center, Loader, Anchor } from '@mantine/core';
import { lazy, Suspense, type ReactNode } from 'react';
import { Navigate, Route, Routes, useLocation, Link } from 'react-router';
import type { ConsoleAction } from '../../contract/answers.ts';
import { useLastSession, useSession } from './api/session.ts';
import { Failure, Empty } from './components/feedback.tsx';
import { LoadingRows } from './components/list-page.tsx';
import { PageGate } from './components/page-gate.tsx';
import { Shell } from './shell.tsx';
import { SessionGuard } from './sign-in/session-guard.tsx';
import { SignedInPage } from './sign-in/signed-in-page.tsx';
import { SignInPage } from './sign-in/sign-in-page.tsx';
import { IconMapOff } from '@tabler/icons-react';

/* Each page is loaded when it is opened. */
const AccessKeysPage = lazy(async () => ({
  default: (await import('./access-keys/access-keys-page.tsx')).AccessKeysPage,
}));
const AccountPage = lazy(async () => ({ default: (await import('./account/account-page.tsx')).AccountPage }));
const BucketsPage = lazy(async () => ({ default: (await import('./buckets/buckets-page.tsx')).BucketsPage }));
const ExplainPage = lazy(async () => ({ default: (await import('./explain/explain-page.tsx')).ExplainPage }));
const GroupPage = lazy(async () => ({ default: (await import('./groups/group-page.tsx')).GroupPage }));
const GroupsPage = lazy(async () => ({ default: (await import('./groups/groups-page.tsx')).GroupsPage }));
const ObjectsPage = lazy(async () => ({ default: (await import('./objects/objects-page.tsx')).ObjectsPage }));
const NewPolicyPage = lazy(async () => ({ default: (await import('./policies/new-policy-page.tsx')).NewPolicyPage }));
const PoliciesPage = lazy(async () => ({ default: (await import('./policies/policies-page.tsx')).PoliciesPage }));
const PolicyPage = lazy(async () => ({ default: (await import('./policies/policy-page.tsx')).PolicyPage }));
const NewProviderPage = lazy(async () => ({
  default: (await import('./providers/new-provider-page.tsx')).NewProviderPage,
}));
const ProviderPage = lazy(async () => ({ default: (await import('./providers/provider-page.tsx')).ProviderPage }));
const ProvidersPage = lazy(async () => ({ default: (await import('./providers/providers-page.tsx')).ProvidersPage }));
const StatusPage = lazy(async () => ({ default: (await import('./status/status-page.tsx')).StatusPage }));
const TrafficPage = lazy(async () => ({ default: (await import('./operations/traffic-page.tsx')).TrafficPage }));
const RequestsPage = lazy(async () => ({ default: (await import('./operations/requests-page.tsx')).RequestsPage }));
const LogsPage = lazy(async () => ({ default: (await import('./operations/logs-page.tsx')).LogsPage }));
const AuditPage = lazy(async () => ({ default: (await import('./operations/audit-page.tsx')).AuditPage }));
const WorkPage = lazy(async () => ({ default: (await import('./operations/work-page.tsx')).WorkPage }));
const ConfigurationPage = lazy(async () => ({
  default: (await import('./operations/configuration-page.tsx')).ConfigurationPage,
}));
const BatchPage = lazy(async () => ({ default: (await import('./operations/batch/batch-page.tsx')).BatchPage }));
const TiersPage = lazy(async () => ({ default: (await import('./operations/tiers/tiers-page.tsx')).TiersPage }));
const KeysPage = lazy(async () => ({ default: (await import('./keys/keys-page.tsx')).KeysPage }));
const UserPage = lazy(async () => ({ default: (await import('./users/user-page.tsx')).UserPage }));
const SessionsPage = lazy(async () => ({ default: (await import('./users/sessions-page.tsx')).SessionsPage }));
const UsersPage = lazy(async () => ({ default: (await import('./users/users-page.tsx')).UsersPage }));
const BucketSettingsPage = lazy(async () => ({
  default: (await import('./bucket-settings/settings-page.tsx')).BucketSettingsPage,
}));

export function App() {
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
        <Loader aria-label="Loading" />
      </Center>
    );
  }
  if (session.isError) {
    return (
      <Center h="100vh" p="md">
        <Failure what="The console cannot be shown" error={session.error} retry={session.refetch} />
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
          <Route path="/policies/new" element={gated('New policy', ['admin:CreatePolicy'], <NewPolicyPage />)} />
          <Route path="/policy" element={<PolicyPage />} />
          <Route path="/explain" element={gated('Explain', ['admin:ExplainPolicy'], <ExplainPage />)} />
          <Route
            path="/identity-providers"
            element={gated('Identity providers', ['admin:ConfigUpdate'], <ProvidersPage />)}
          />
          <Route
            path="/identity-providers/new"
            element={gated('Identity providers', ['admin:ConfigUpdate'], <NewProviderPage />)}
          />
          <Route
            path="/identity-provider"
            element={gated('Identity providers', ['admin:ConfigUpdate'], <ProviderPage />)}
          />
          <Route path="/status" element={gated('Status', ['admin:ServerInfo'], <StatusPage />)} />
          <Route
            path="/traffic"
            element={gated('Traffic', ['admin:Prometheus', 'admin:DataUsageInfo'], <TrafficPage />)}
          />
          <Route path="/requests" element={gated('Requests', ['admin:ServerTrace'], <RequestsPage />)} />
          <Route path="/logs" element={gated('Logs', ['admin:ConsoleLog'], <LogsPage />)} />
          <Route path="/audit" element={gated('Audit log', ['admin:ReadAuditLog'], <AuditPage />)} />
          <Route
            path="/work"
            element={gated(
              'Background work',
              [
                'admin:ServerInfo',
                'admin:ScrubStatus',
                'admin:VerifyStore',
                'admin:SnapshotStore',
                'admin:SetReadOnly',
                'admin:ServiceRestart',
              ],
              <WorkPage />,
            )}
          />
          <Route
            path="/batch-jobs"
            element={gated('Batch jobs', ['admin:ListBatchJobs', 'admin:StartBatchJob'], <BatchPage />)}
          />
          <Route path="/tiers" element={gated('Tiers', ['admin:ListTier', 'admin:SetTier'], <TiersPage />)} />
          <Route
            path="/configuration"
            element={gated('Configuration', ['admin:ConfigUpdate'], <ConfigurationPage />)}
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
    <Empty icon={<IconMapOff size={30} stroke={1.4} />} title="There is no such page" order={1}>
      <Anchor component={Link} to="/buckets" size="sm">
        Go to your buckets
      </Anchor>
    </Empty>
  );
}
