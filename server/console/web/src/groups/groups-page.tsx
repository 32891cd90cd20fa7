import { Button, Table, Text } from '@mantine/core';
import { IconPlus, IconUsersGroup } from '@tabler/icons-react';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import type { GroupRow } from '../../../contract/identity-answers.ts';
import { useGroups } from '../api/groups.ts';
import { useRights } from '../api/rights.ts';
import { Empty } from '../shell/empty.tsx';
import { ListPage } from '../shell/list-page.tsx';
import { RowName } from '../shell/row-name.tsx';
import { useSearch } from '../shell/use-search.ts';
import { Names } from '../shell/names.tsx';
import { groupUrl, policyUrl } from '../shell/places.ts';
import { StatusBadge } from '../shell/status-badge.tsx';
import { CreateGroupDialog } from './create-group-dialog.tsx';

export function GroupsPage() {
  const { may } = useRights();
  const navigate = useNavigate();
  const search = useSearch();
  const groups = useGroups(search.contains);
  const [creating, setCreating] = useState(false);
  return (
    <ListPage
      title="Groups"
      one="group"
      list={groups}
      search={search}
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
      {(rows) => <GroupTable groups={rows} />}
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
                <RowName name={group.name} icon={IconUsersGroup} to={groupUrl(group.name)} />
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
