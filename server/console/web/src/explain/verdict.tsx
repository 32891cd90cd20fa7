import { Alert, Badge, Group, Stack, Text, Title, Table } from '@mantine/core';
import { IconAlertTriangle, IconCheck, IconDoorOff, IconX } from '@tabler/icons-react';
import type { DecisionAnswer, ExplainAnswer, ExplainedPolicy } from '../../../contract/explain-answers.ts';
import { CopyButtonText } from '../components/copy-text.tsx';

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

const sources: Readonly<Record<ExplainedPolicy['source'], string>> = {
  identity: '',
  bucket: 'policy of the bucket',
  boundary: 'narrows the credentials',
};

const says = { allow: 'allows it', deny: 'denies it', none: 'says nothing to it' } as const;
const effectColors = { allow: 'patina', deny: 'red', none: 'gray' } as const;

function ExplainedPolicies({ policies }: { readonly policies: readonly ExplainedPolicy[] }) {
  if (policies.length === 0) return <Text size="sm">None: nothing is attached to them, so nothing is allowed.</Text>;
  return (
    <Stack gap="lg">
      {policies.map((policy) => (
        <section key={`${policy.source} ${policy.policy}`} aria-label={`Policy ${policy.policy}`}>
          <Group gap="xs" mb="xs">
            <Title order={3} fz="md" className="mono">
              {policy.policy}
            </Title>
            <Badge color={effectColors[policy.effect]}>{says[policy.effect]}</Badge>
            <Text size="xs" c="dimmed">
              {[sources[policy.source], ...policy.through.map((way) => `by ${way}`)].filter(Boolean).join(', ')}
            </Text>
          </Group>
          <StatementTable policy={policy} />
        </section>
      ))}
    </Stack>
  );
}

function StatementTable({ policy }: { readonly policy: ExplainedPolicy }) {
  return (
    <div className="rows">
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={140}>Statement</Table.Th>
            <Table.Th w={90}>Effect</Table.Th>
            <Table.Th>Does it apply?</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {policy.statements.map((statement) => (
            <Table.Tr key={statement.statement}>
              <Table.Td className="mono">{statement.statement}</Table.Td>
              <Table.Td>
                <Badge color={statement.effect === 'Allow' ? 'patina' : 'red'}>{statement.effect}</Badge>
              </Table.Td>
              <Table.Td>
                <Text size="sm" fw={statement.applied ? 600 : 400} style={{ overflowWrap: 'anywhere' }}>
                  {statement.applied ? 'Applies' : `No: ${statement.obstacle ?? 'it does not fit'}`}
                </Text>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}
