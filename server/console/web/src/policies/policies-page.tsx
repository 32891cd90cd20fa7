import { Badge, Button, Table, Text } from '@mantine/core';
import { IconPlus, IconShieldCheck } from '@tabler/icons-react';
import { Link } from 'react-router';
import type { PolicyRow } from '../../../contract/identity-answers.ts';
import { usePolicies } from '../api/policies.ts';
import { useRights } from '../api/session.ts';
import { Empty } from '../components/feedback.tsx';
import { ListPage, useSearch } from '../components/list-page.tsx';
import { RowName, TimeText } from '../components/table-cells.tsx';
import { policyUrl } from '../components/urls.ts';

export function PoliciesPage() {
  const { may } = useRights();
  const search = useSearch();
  const policies = usePolicies(search.contains);
  return (
    <ListPage
      title="Policies"
      one="policy"
      list={policies}
      search={search}
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
      {(rows) => <PolicyTable policies={rows} />}
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
                <RowName
                  name={policy.name}
                  icon={IconShieldCheck}
                  to={may('admin:GetPolicy') ? policyUrl(policy.name) : undefined}
                >
                  <KindBadge kind={policy.kind} />
                </RowName>
              </Table.Td>
              <Table.Td ta="right">
                <Text size="sm">{policy.statements}</Text>
              </Table.Td>
              <Table.Td className="wide-only">
                {policy.updatedAt !== undefined && <TimeText at={policy.updatedAt} />}
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
