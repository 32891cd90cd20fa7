import { Alert, Title } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { PolicyInForce } from '../../../contract/answers.ts';
import { Statements } from './statements.tsx';

/** What a policy that counts for somebody says; or that nobody defined it. */
export function PolicyInForceView({ policy }: { readonly policy: PolicyInForce }) {
  return (
    <section>
      <Title order={3} fz="md" mb="xs" className="mono">
        {policy.name}
      </Title>
      {policy.statements === undefined ? (
        <Alert color="yellow" icon={<IconAlertTriangle size={18} />}>
          No policy has this name here, so it allows nothing. Whoever manages access can create it, or correct the name
          at the identity provider.
        </Alert>
      ) : (
        <Statements statements={policy.statements} />
      )}
    </section>
  );
}
