import { Center, Text } from '@mantine/core';
import { useEffect } from 'react';

/** The end of a sign-in in a window of its own: it closes, and the window that opened it goes on. */
export function SignedInPage() {
  useEffect(() => window.close(), []);
  return (
    <Center h="100vh" p="md" component="main">
      <Text component="h1" size="lg">
        You are signed in. Close this window.
      </Text>
    </Center>
  );
}
