import { Alert, Button, Stack, Text } from '@mantine/core';
import { IconAlertTriangle, IconLock } from '@tabler/icons-react';
import { ApiError } from '../api/call.ts';

interface FailureProps {
  /** What did not work, e.g. `The buckets cannot be shown`. */
  readonly what: string;
  readonly error: Error;
  readonly retry?: () => unknown;
}

/** In place of what could not be loaded: what, why, and what to do. */
export function Failure({ what, error, retry }: FailureProps) {
  const refused = error instanceof ApiError && error.status === 403;
  return (
    <Alert
      color={refused ? 'gray' : 'red'}
      icon={refused ? <IconLock size={18} /> : <IconAlertTriangle size={18} />}
      title={what}
      role="alert"
    >
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{error.message}</Text>
        {retry !== undefined && !refused && (
          <Button size="compact-sm" variant="default" onClick={() => void retry()}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  );
}
