import { Alert, Badge, Group, Stack, Text, Title } from '@mantine/core';
import { IconAlertTriangle, IconCheck, IconDoorOff, IconX } from '@tabler/icons-react';
import type { DecisionAnswer, ExplainAnswer } from '../../../contract/explain-answers.ts';
import { CopyButtonText } from '../shell/copy-button-text.tsx';
import { ExplainedPolicies } from './explained-policies.tsx';

export function Verdict({ answer }: { readonly answer: ExplainAnswer }) {
  if (answer.kind === 'not-let-in') {
    return (
      <Alert color="red" icon={<IconDoorOff size={18} />} title="They would not be let in" role="status">
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {answer.message}
        </Text>
      </Alert>
    );
  }
  return <Decision decision={answer} />;
}

function Decision({ decision }: { readonly decision: DecisionAnswer }) {
  const allowed = decision.effect === 'allow';
  return (
    <Stack gap="md">
      <Alert
        color={allowed ? 'patina' : 'red'}
        icon={allowed ? <IconCheck size={18} /> : <IconX size={18} />}
        title={`${decision.who}: ${allowed ? 'allowed' : 'denied'}`}
        role="status"
      >
        <Stack gap="xs">
          <Text size="sm">{capital(decision.reason)}.</Text>
          {decision.decidedBy.length > 0 && (
            <Group gap={6}>
              <Text size="sm">Decided by</Text>
              {decision.decidedBy.map(({ policy, statement }) => (
                <Badge key={`${policy} ${statement}`} color={allowed ? 'patina' : 'red'}>
                  {policy} · {statement}
                </Badge>
              ))}
            </Group>
          )}
        </Stack>
      </Alert>
      {decision.missing.length > 0 && (
        <Alert color="yellow" icon={<IconAlertTriangle size={18} />} title="Policies that do not exist">
          <Text size="sm">
            {decision.missing.join(', ')}: named for them, and nowhere defined, so they allow nothing. Create them, or
            correct the name.
          </Text>
        </Alert>
      )}
      <Group justify="space-between">
        <Title order={2}>Policies that were looked at</Title>
        <CopyButtonText text={decision.text} label="Copy as text" />
      </Group>
      <ExplainedPolicies policies={decision.policies} />
    </Stack>
  );
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
