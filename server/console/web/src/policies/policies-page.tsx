import { Badge, Button, Table, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconPlus, IconShieldCheck } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'react-router';
import type { PolicyRow } from '../../../contract/identity-answers.ts';
import { usePolicies } from '../api/policies.ts';
import { useRights } from '../api/rights.ts';
import { Empty } from '../shell/empty.tsx';
import { ListPage } from '../shell/list-page.tsx';
import { policyUrl } from '../shell/places.ts';
import { formatExactTime, formatTime } from '../text/time.ts';

export function PoliciesPage() {
  const { may } = useRights();
  const [filter, setFilter] = useState('');
  const [contains] = useDebouncedValue(filter, 200);
  const policies = usePolicies(contains);
  const rows = policies.data?.policies ?? [];
  return (
    <ListPage
      title="Policies"
      one="policy"
      query={policies}
      rows={rows.length}
      more={policies.data?.more ?? false}
      filter={filter}
      onFilter={setFilter}
      actions={
        may('admin:CreatePolicy') && (
          <Button component={Link} to="/policies/new" leftSection={<IconPlus size={16} />}>
            Create policy
          </Button>
        )
      }
      empty={
        <Empty icon={<IconShieldCheck size={34} stroke={1.3} />} title="No policies">
          A policy says what those it is attached to may do.
        </Empty>
      }
    >
      <PolicyTable policies={rows} />
    </ListPage>
  );
}

function PolicyTable({ policies }: { readonly policies: readonly PolicyRow[] }) {
  const { may } = useRights();
  return (
    <div className="rows">
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Name</Table.Th>
            <Table.Th w={110} ta="right">
              Statements
            </Table.Th>
            <Table.Th w={190} className="wide-only">
              Changed
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {policies.map((policy) => (
            <Table.Tr key={policy.name}>
              <Table.Td>
                {may('admin:GetPolicy') ? (
                  <Link className="row-name" to={policyUrl(policy.name)}>
                    <IconShieldCheck size={18} stroke={1.5} className="row-icon" aria-hidden />
                    <span>{policy.name}</span>
                    <KindBadge kind={policy.kind} />
                  </Link>
                ) : (
                  <Text size="sm">{policy.name}</Text>
                )}
              </Table.Td>
              <Table.Td ta="right">
                <Text size="sm">{policy.statements}</Text>
              </Table.Td>
              <Table.Td className="wide-only">
                {policy.updatedAt !== undefined && (
                  <Text
                    size="sm"
                    c="dimmed"
                    component="time"
                    dateTime={policy.updatedAt}
                    title={formatExactTime(policy.updatedAt)}
                  >
                    {formatTime(policy.updatedAt)}
                  </Text>
                )}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}

export function KindBadge({ kind }: { readonly kind: PolicyRow['kind'] }) {
  if (kind === 'stored') return null;
  return <Badge color="gray">{kind === 'built-in' ? 'built in' : 'replaces a built-in one'}</Badge>;
}
