import { Button, Text } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import { useState } from 'react';
import { admin } from '../api/admin.ts';
import { useApiMutation } from '../api/queries.ts';
import { useRights } from '../api/session.ts';
import { Section } from '../components/detail-page.tsx';
import { notifyDone } from '../components/feedback.tsx';
import { FormDialog } from '../components/form-dialog.tsx';
import { t } from '../texts/texts.ts';

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
    <Section title={t.work.server} words={t.work.certificatesIdentityProvidersAndPoliciesAreRead}>
      <Button variant="default" leftSection={<IconRefresh size={15} />} onClick={() => setAsking(true)}>
        {t.work.restartThisServer}
      </Button>
      {asking && (
        <FormDialog
          title={t.work.restartThisServerQuestion}
          submit={t.work.restart}
          danger
          pending={restart.isPending}
          error={restart.error}
          onClose={() => setAsking(false)}
          onSubmit={() =>
            restart.mutate(undefined, {
              onSuccess: () => {
                setAsking(false);
                notifyDone(t.work.theServerRestartsThisPageGoesOn);
              },
            })
          }
        >
          <Text size="sm">{t.work.requestsInFlightAreAnsweredFirstClients}</Text>
        </FormDialog>
      )}
    </Section>
  );
}
