import { Stack, Text, Title, Alert, Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { IconAlertTriangle, IconLock, type Icon } from '@tabler/icons-react';
import { ResponseError } from '../../../protocol/response-error.ts';
import { notifications } from '@mantine/notifications';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

interface EmptyProps {
  readonly icon: Icon;
  readonly title: string;
  /** 1 if it replaces the whole page. */
  readonly order?: 1 | 2;
  /** The right without which the user cannot create the first row. */
  readonly missing?: string | undefined;
  readonly children: ReactNode;
}

/** Shown instead of an empty list, in its frame, or instead of a page. */
export function Empty({ icon: Symbol, title, order = 2, missing, children }: EmptyProps) {
  return (
    <Stack align="center" gap={6} py={56} px="md" className={order === 2 ? 'rows' : undefined}>
      <Text c="dimmed" component="div" mb={4}>
        <Symbol size={34} stroke={1.3} aria-hidden />
      </Text>
      <Title order={order} ta="center">
        {title}
      </Title>
      <Text size="sm" c="dimmed" ta="center" maw={440} component="div" style={{ textWrap: 'balance' }}>
        {children} {missing !== undefined && say(t.components.toCreateOneYouNeedTheRight, { right: missing })}
      </Text>
    </Stack>
  );
}

interface FailureProps {
  /** For example `The buckets cannot be shown`. */
  readonly what: string;
  readonly error: Error;
  readonly retry?: () => unknown;
}

/** Shown instead of content that could not be loaded. */
export function Failure({ what, error, retry }: FailureProps) {
  const refused = error instanceof ResponseError && error.status === 403;
  const isAbsent = error instanceof ResponseError && error.status === 404;
  return (
    <Alert
      color={refused ? 'gray' : 'red'}
      icon={refused ? <IconLock size={18} /> : <IconAlertTriangle size={18} />}
      title={what}
      role="alert"
    >
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{error.message}</Text>
        {retry !== undefined && !refused && !isAbsent && (
          <Button size="compact-sm" variant="default" onClick={() => void retry()}>
            {t.components.tryAgain}
          </Button>
        )}
      </Stack>
    </Alert>
  );
}

/** Shows the error of an action of the user. It stays for 15 seconds. */
export function notifyFailure(title: string, error: Error): void {
  notifications.show({
    title,
    message: error.message,
    color: 'red',
    autoClose: 15_000,
    withBorder: true,
    role: 'alert',
  });
}

export function notifyDone(message: string): void {
  notifications.show({ message, autoClose: 4_000, withBorder: true });
}
