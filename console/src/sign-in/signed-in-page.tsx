import { Center, Text } from '@mantine/core';
import { useEffect } from 'react';
import { t } from '../texts/texts.ts';

/** The end of a sign-in in a window of its own: it closes, and the window that opened it goes on. */
export function SignedInPage() {
  useEffect(() => window.close(), []);
  return (
    <Center h="100vh" p="md" component="main">
      <Text component="h1" size="lg">
        {t.signIn.youAreSignedInCloseThisWindow}
      </Text>
    </Center>
  );
}
