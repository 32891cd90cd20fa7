import { Badge, Table, Text, Alert, Title } from '@mantine/core';
import type { Patterns, Statement, PolicyInForce } from '../../../protocol/console/answers.ts';
import { describeAction, describeCondition, describePrincipal, describeResource } from './describe-statement.ts';
import { IconAlertTriangle } from '@tabler/icons-react';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

/** The statements of a policy with their actions, resources and conditions. */
export function Statements({ statements }: { readonly statements: readonly Statement[] }) {
  return (
    <div className="rows">
      <Table layout="fixed" className="stacked">
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={84}>{t.policies.effect}</Table.Th>
            <Table.Th>{t.labels.actions}</Table.Th>
            <Table.Th>{t.policies.on}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {statements.map((statement, index) => (
            <Table.Tr key={statement.sid ?? index} style={{ verticalAlign: 'baseline' }}>
              <Table.Td>
                <Badge color={statement.effect === 'Allow' ? 'patina' : 'red'}>{statement.effect}</Badge>
              </Table.Td>
              <Table.Td data-head={t.labels.actions}>
                <PatternList patterns={statement.actions} describe={describeAction} />
                {statement.principals !== undefined && (
                  <Text size="xs" c="dimmed" mt={2} style={{ overflowWrap: 'anywhere' }}>
                    {say(t.policies.byPrincipals, {
                      principals: statement.principals.map(describePrincipal).join(', '),
                    })}
                  </Text>
                )}
              </Table.Td>
              <Table.Td data-head={t.policies.on}>
                {statement.resources !== undefined && (
                  <PatternList patterns={statement.resources} describe={describeResource} />
                )}
                {statement.conditions.map((condition) => (
                  <Text key={`${condition.operator} ${condition.key}`} size="xs" c="dimmed" mt={2}>
                    {say(t.policies.if, { condition: describeCondition(condition) })}
                  </Text>
                ))}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}

interface PatternListProps {
  readonly patterns: Patterns;
  readonly describe: (pattern: string) => string;
}

function PatternList({ patterns: { kind, patterns }, describe }: PatternListProps) {
  return (
    <>
      {kind === 'all-but' && (
        <Text size="sm" fs="italic">
          {t.policies.everythingBut}
        </Text>
      )}
      {patterns.map((pattern) => (
        <Text key={pattern} size="sm" title={pattern} style={{ overflowWrap: 'anywhere' }}>
          {describe(pattern)}
        </Text>
      ))}
    </>
  );
}

/** The content of a policy that applies, or a note that it does not exist. */
export function PolicyInForceView({ policy }: { readonly policy: PolicyInForce }) {
  return (
    <section>
      <Title order={3} fz="md" mb="xs" className="mono">
        {policy.name}
      </Title>
      {policy.statements === undefined ? (
        <Alert color="yellow" icon={<IconAlertTriangle size={18} />}>
          {t.policies.noPolicyHasThisNameSoIt}
        </Alert>
      ) : (
        <Statements statements={policy.statements} />
      )}
    </section>
  );
}
