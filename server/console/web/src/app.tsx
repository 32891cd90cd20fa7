import { Center, Loader, Anchor } from '@mantine/core';
import { Navigate, Route, Routes, useLocation, Link } from 'react-router';
import { useSession } from './api/session.ts';
import { AccessKeysPage } from './access-keys/access-keys-page.tsx';
import { AccountPage } from './account/account-page.tsx';
import { BucketsPage } from './buckets/buckets-page.tsx';
import { ExplainPage } from './explain/explain-page.tsx';
import { GroupPage } from './groups/group-page.tsx';
import { GroupsPage } from './groups/groups-page.tsx';
import { ObjectsPage } from './objects/objects-page.tsx';
import { NewPolicyPage } from './policies/new-policy-page.tsx';
import { PoliciesPage } from './policies/policies-page.tsx';
import { PolicyPage } from './policies/policy-page.tsx';
import { NewProviderPage } from './providers/new-provider-page.tsx';
import { ProviderPage } from './providers/provider-page.tsx';
import { ProvidersPage } from './providers/providers-page.tsx';
import { Failure, Empty } from './components/feedback.tsx';
import { Shell } from './shell.tsx';
import { SignInPage } from './sign-in/sign-in-page.tsx';
import { StatusPage } from './status/status-page.tsx';
import { UserPage } from './users/user-page.tsx';
import { UsersPage } from './users/users-page.tsx';
import { IconMapOff } from '@tabler/icons-react';

export function App() {
  return (
    <Routes>
      <Route path="/sign-in" element={<SignInPage />} />
      <Route path="*" element={<SignedIn />} />
    </Routes>
  );
}

/** The pages that need a session. */
function SignedIn() {
  const session = useSession();
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
  if (session.data === null) {
    const here = `${pathname}${search}`;
    return <Navigate replace to={here === '/' ? '/sign-in' : `/sign-in?${new URLSearchParams({ to: here })}`} />;
  }
  return (
    <Shell session={session.data}>
      <Routes>
        <Route path="/" element={<Navigate replace to="/buckets" />} />
        <Route path="/buckets" element={<BucketsPage />} />
        <Route path="/buckets/:bucket" element={<ObjectsPage />} />
        <Route path="/access-keys" element={<AccessKeysPage />} />
        <Route path="/users" element={<UsersPage />} />
        <Route path="/user" element={<UserPage />} />
        <Route path="/groups" element={<GroupsPage />} />
        <Route path="/group" element={<GroupPage />} />
        <Route path="/policies" element={<PoliciesPage />} />
        <Route path="/policies/new" element={<NewPolicyPage />} />
        <Route path="/policy" element={<PolicyPage />} />
        <Route path="/explain" element={<ExplainPage />} />
        <Route path="/identity-providers" element={<ProvidersPage />} />
        <Route path="/identity-providers/new" element={<NewProviderPage />} />
        <Route path="/identity-provider" element={<ProviderPage />} />
        <Route path="/status" element={<StatusPage />} />
        <Route path="/account" element={<AccountPage session={session.data} />} />
        <Route path="*" element={<NotFoundPage />} />
      </Routes>
    </Shell>
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
