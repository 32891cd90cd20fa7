import { Badge, Group, Stack, Table, Text, Title } from '@mantine/core';
import type { ExplainedPolicy } from '../../../contract/explain-answers.ts';

const sources: Readonly<Record<ExplainedPolicy['source'], string>> = {
  identity: '',
  bucket: 'policy of the bucket',
  boundary: 'narrows the credentials',
};

const says = { allow: 'allows it', deny: 'denies it', none: 'says nothing to it' } as const;
const colours = { allow: 'patina', deny: 'red', none: 'gray' } as const;

export function ExplainedPolicies({ policies }: { readonly policies: readonly ExplainedPolicy[] }) {
  if (policies.length === 0) return <Text size="sm">None: nothing is attached to them, so nothing is allowed.</Text>;
  return (
    <Stack gap="lg">
      {policies.map((policy) => (
        <section key={`${policy.source} ${policy.policy}`} aria-label={`Policy ${policy.policy}`}>
          <Group gap="xs" mb="xs">
            <Title order={3} fz="md" className="mono">
              {policy.policy}
            </Title>
            <Badge color={colours[policy.effect]}>{says[policy.effect]}</Badge>
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
