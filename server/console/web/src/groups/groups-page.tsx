import { Button, Table, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconPlus, IconUsersGroup } from '@tabler/icons-react';
import { useState } from 'react';
import { Link, useNavigate } from 'react-router';
import type { GroupRow } from '../../../contract/identity-answers.ts';
import { useGroups } from '../api/groups.ts';
import { useRights } from '../api/rights.ts';
import { Empty } from '../shell/empty.tsx';
import { ListPage } from '../shell/list-page.tsx';
import { Names } from '../shell/names.tsx';
import { groupUrl, policyUrl } from '../shell/places.ts';
import { StatusBadge } from '../shell/status-badge.tsx';
import { CreateGroupDialog } from './create-group-dialog.tsx';

export function GroupsPage() {
  const { may } = useRights();
  const navigate = useNavigate();
  const [filter, setFilter] = useState('');
  const [contains] = useDebouncedValue(filter, 200);
  const groups = useGroups(contains);
  const [creating, setCreating] = useState(false);
  const rows = groups.data?.groups ?? [];
  return (
    <ListPage
      title="Groups"
      one="group"
      query={groups}
      rows={rows.length}
      more={groups.data?.more ?? false}
      filter={filter}
      onFilter={setFilter}
      actions={
        may('admin:AddUserToGroup') && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => setCreating(true)}>
            Create group
          </Button>
        )
      }
      empty={
        <Empty icon={<IconUsersGroup size={34} stroke={1.3} />} title="No groups yet">
          A group gives its policies to all of its members.
        </Empty>
      }
      dialogs={
        creating && (
          <CreateGroupDialog onClose={() => setCreating(false)} onCreated={(name) => void navigate(groupUrl(name))} />
        )
      }
    >
      <GroupTable groups={rows} />
    </ListPage>
  );
}

function GroupTable({ groups }: { readonly groups: readonly GroupRow[] }) {
  const { may } = useRights();
  return (
    <div className="rows">
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Name</Table.Th>
            <Table.Th>Policies</Table.Th>
            <Table.Th w={110} ta="right">
              Members
            </Table.Th>
            <Table.Th w={110}>Status</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {groups.map((group) => (
            <Table.Tr key={group.name}>
              <Table.Td>
                <Link className="row-name" to={groupUrl(group.name)}>
                  <IconUsersGroup size={18} stroke={1.5} className="row-icon" aria-hidden />
                  <span>{group.name}</span>
                </Link>
              </Table.Td>
              <Table.Td>
                <Names names={group.policies} to={may('admin:GetPolicy') ? policyUrl : undefined} />
              </Table.Td>
              <Table.Td ta="right">
                <Text size="sm">{group.members.length}</Text>
              </Table.Td>
              <Table.Td>
                <StatusBadge status={group.status} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}
