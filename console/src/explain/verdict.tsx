import { Alert, Badge, Group, Stack, Text, Title, Table } from '@mantine/core';
import { IconAlertTriangle, IconCheck, IconDoorOff, IconX } from '@tabler/icons-react';
import type { DecisionAnswer, ExplainAnswer, ExplainedPolicy } from '../../../protocol/console/explain-answers.ts';
import { CopyButtonText } from '../components/copy-text.tsx';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

export function Verdict({ answer }: { readonly answer: ExplainAnswer }) {
  if (answer.kind === 'not-let-in') {
    return (
      <Alert color="red" icon={<IconDoorOff size={18} />} title={t.explain.theyWouldNotBeLetIn} role="status">
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
        title={allowed ? say(t.explain.allowed, { who: decision.who }) : say(t.explain.denied, { who: decision.who })}
        role="status"
      >
        <Stack gap="xs">
          <Text size="sm">{capital(decision.reason)}.</Text>
          {decision.decidedBy.length > 0 && (
            <Group gap={6}>
              <Text size="sm">{t.explain.decidedBy}</Text>
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
        <Alert color="yellow" icon={<IconAlertTriangle size={18} />} title={t.explain.policiesThatDoNotExist}>
          <Text size="sm">
            {say(t.explain.namedForThemAndNowhereDefinedSo, { missing: decision.missing.join(', ') })}
          </Text>
        </Alert>
      )}
      <Group justify="space-between">
        <Title order={2}>{t.explain.policiesThatWereLookedAt}</Title>
        <CopyButtonText text={decision.text} label={t.explain.copyAsText} />
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
  bucket: t.explain.policyOfTheBucket,
  boundary: t.explain.narrowsTheCredentials,
};

const says = { allow: t.explain.allowsIt, deny: t.explain.deniesIt, none: t.explain.saysNothingToIt } as const;
const effectColors = { allow: 'patina', deny: 'red', none: 'gray' } as const;

function ExplainedPolicies({ policies }: { readonly policies: readonly ExplainedPolicy[] }) {
  if (policies.length === 0) return <Text size="sm">{t.explain.noneNothingIsAttachedToThemSo}</Text>;
  return (
    <Stack gap="lg">
      {policies.map((policy) => (
        <section
          key={`${policy.source} ${policy.policy}`}
          aria-label={say(t.explain.policy, { policy: policy.policy })}
        >
          <Group gap="xs" mb="xs">
            <Title order={3} fz="md" className="mono">
              {policy.policy}
            </Title>
            <Badge color={effectColors[policy.effect]}>{says[policy.effect]}</Badge>
            <Text size="xs" c="dimmed">
              {[sources[policy.source], ...policy.through.map((way) => say(t.explain.by, { way }))]
                .filter(Boolean)
                .join(', ')}
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
      <Table className="stacked">
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={140}>{t.explain.statement}</Table.Th>
            <Table.Th w={90}>{t.explain.effect}</Table.Th>
            <Table.Th>{t.explain.doesItApply}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {policy.statements.map((statement) => (
            <Table.Tr key={statement.statement}>
              <Table.Td className="mono">{statement.statement}</Table.Td>
              <Table.Td>
                <Badge color={statement.effect === 'Allow' ? 'patina' : 'red'}>{statement.effect}</Badge>
              </Table.Td>
              <Table.Td data-head={t.explain.doesItApply}>
                <Text size="sm" fw={statement.applied ? 600 : 400} style={{ overflowWrap: 'anywhere' }}>
                  {statement.applied
                    ? t.explain.applies
                    : statement.obstacle === undefined
                      ? t.explain.noItDoesNotFit
                      : say(t.explain.no, { obstacle: statement.obstacle })}
                </Text>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}
