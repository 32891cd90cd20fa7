import { Button, Text } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import { useState } from 'react';
import { admin } from '../api/admin.ts';
import { useApiMutation } from '../api/queries.ts';
import { useRights } from '../api/session.ts';
import { Section } from '../components/detail-page.tsx';
import { notifyDone } from '../components/feedback.tsx';
import { FormDialog } from '../components/form-dialog.tsx';

/** Restarts the server that answers. */
export function ServerSection() {
  const { may } = useRights();
  const [asking, setAsking] = useState(false);
  const restart = useApiMutation(
    () => admin('POST', 'service', { query: { action: 'restart', type: '2' } }),
    ['status', 'health'],
  );
  if (!may('admin:ServiceRestart')) return null;
  return (
    <Section
      title="Server"
      words="Certificates, identity providers and policies are read anew without a restart. Settings of the environment need one; on Kubernetes the operator restarts the pods when they change, one at a time."
    >
      <Button variant="default" leftSection={<IconRefresh size={15} />} onClick={() => setAsking(true)}>
        Restart this server…
      </Button>
      {asking && (
        <FormDialog
          title="Restart this server?"
          submit="Restart"
          danger
          pending={restart.isPending}
          error={restart.error}
          onClose={() => setAsking(false)}
          onSubmit={() =>
            restart.mutate(undefined, {
              onSuccess: () => {
                setAsking(false);
                notifyDone('The server restarts. This page goes on when it answers again.');
              },
            })
          }
        >
          <Text size="sm">
            Requests in flight are answered first. Clients then have no answer from this server for some seconds. You
            stay signed in.
          </Text>
        </FormDialog>
      )}
    </Section>
  );
}
