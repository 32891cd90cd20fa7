import { Badge, Button, Text } from '@mantine/core';
import { IconPlus, IconShieldCheck } from '@tabler/icons-react';
import { Link } from 'react-router';
import type { PolicyRow } from '../../../protocol/console/identity-answers.ts';
import { usePolicies } from '../api/policies.ts';
import { useRights } from '../api/session.ts';
import { Empty } from '../components/feedback.tsx';
import { ListPage, useSearch } from '../components/list-page.tsx';
import { type Column, RowName, RowTable, TimeText } from '../components/row-table.tsx';
import { policyUrl } from '../components/urls.ts';
import { t } from '../texts/texts.ts';

export function PoliciesPage() {
  const { may } = useRights();
  const search = useSearch();
  const policies = usePolicies(search.contains);
  return (
    <ListPage
      title={t.labels.policies}
      list={policies}
      search={search}
      actions={
        may('admin:CreatePolicy') && (
          <Button component={Link} to="/policies/new" leftSection={<IconPlus size={16} />}>
            {t.policies.createPolicy}
          </Button>
        )
      }
      empty={
        <Empty icon={IconShieldCheck} title={t.policies.noPolicies}>
          {t.policies.aPolicySaysWhatItsUsersAnd}
        </Empty>
      }
    >
      {(rows) => <PolicyTable policies={rows} />}
    </ListPage>
  );
}

function PolicyTable({ policies }: { readonly policies: readonly PolicyRow[] }) {
  const { may } = useRights();
  const columns: readonly Column<PolicyRow>[] = [
    {
      head: t.labels.name,
      cell: ({ name, kind }) => (
        <RowName name={name} icon={IconShieldCheck} to={may('admin:GetPolicy') ? policyUrl(name) : undefined}>
          <KindBadge kind={kind} />
        </RowName>
      ),
    },
    {
      head: t.policies.statements,
      width: 110,
      align: 'right',
      cell: ({ statements }) => <Text size="sm">{statements}</Text>,
    },
    {
      head: t.policies.changed,
      width: 190,
      wideOnly: true,
      cell: ({ updatedAt }) => updatedAt !== undefined && <TimeText at={updatedAt} />,
    },
  ];
  return <RowTable rows={policies} rowKey={({ name }) => name} columns={columns} />;
}

export function KindBadge({ kind }: { readonly kind: PolicyRow['kind'] }) {
  if (kind === 'stored') return null;
  return <Badge color="gray">{kind === 'built-in' ? t.policies.builtIn : t.policies.replacesABuiltInOne}</Badge>;
}
