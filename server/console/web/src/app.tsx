import { Center, Loader } from '@mantine/core';
import { Navigate, Route, Routes, useLocation } from 'react-router';
import { useSession } from './api/session.ts';
import { AccountPage } from './account/account-page.tsx';
import { BucketsPage } from './buckets/buckets-page.tsx';
import { ObjectsPage } from './objects/objects-page.tsx';
import { NotFoundPage } from './shell/not-found-page.tsx';
import { Failure } from './shell/failure.tsx';
import { Shell } from './shell/shell.tsx';
import { SignInPage } from './sign-in/sign-in-page.tsx';

export function App() {
  return (
    <Routes>
      <Route path="/sign-in" element={<SignInPage />} />
      <Route path="*" element={<SignedIn />} />
    </Routes>
  );
}

/** Everything behind the sign-in page. */
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
        <Route path="/account" element={<AccountPage session={session.data} />} />
        <Route path="*" element={<NotFoundPage />} />
      </Routes>
    </Shell>
  );
}
