import { Button, Table } from '@mantine/core';
import { IconPlus, IconUser, IconUsers } from '@tabler/icons-react';
import { useState } from 'react';
import type { SecretAnswer, UserRow } from '../../../contract/identity-answers.ts';
import { useRights } from '../api/rights.ts';
import { useSession } from '../api/session.ts';
import { useUsers } from '../api/users.ts';
import { CredentialsDialog } from '../shell/credentials-dialog.tsx';
import { Empty } from '../shell/empty.tsx';
import { ListPage } from '../shell/list-page.tsx';
import { RowName } from '../shell/row-name.tsx';
import { useSearch } from '../shell/use-search.ts';
import { Names } from '../shell/names.tsx';
import { groupUrl, policyUrl, userUrl } from '../shell/places.ts';
import { StatusBadge } from '../shell/status-badge.tsx';
import { CreateUserDialog } from './create-user-dialog.tsx';

export function UsersPage() {
  const { may } = useRights();
  const search = useSearch();
  const users = useUsers(search.contains);
  const [creating, setCreating] = useState(false);
  const [made, setMade] = useState<SecretAnswer>();
  const s3Url = useSession().data?.s3Url;
  const create = may('admin:CreateUser') && (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setCreating(true)}>
      Create user
    </Button>
  );
  return (
    <ListPage
      title="Users"
      one="user"
      list={users}
      search={search}
      actions={create}
      empty={
        <Empty icon={<IconUsers size={34} stroke={1.3} />} title="No users yet">
          People who come by an identity provider need no user here. Users are for people and programs without one.
        </Empty>
      }
      dialogs={
        <>
          {creating && (
            <CreateUserDialog
              onClose={() => setCreating(false)}
              onCreated={(user) => {
                setCreating(false);
                if (user.secretKey !== undefined) setMade(user);
              }}
            />
          )}
          {made?.secretKey !== undefined && (
            <CredentialsDialog
              title={`${made.name} is created`}
              credentials={{ accessKey: made.name, secretKey: made.secretKey }}
              s3Url={s3Url}
              onClose={() => setMade(undefined)}
            />
          )}
        </>
      }
    >
      {(rows) => <UserTable users={rows} />}
    </ListPage>
  );
}

function UserTable({ users }: { readonly users: readonly UserRow[] }) {
  const { may } = useRights();
  return (
    <div className="rows">
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Name</Table.Th>
            <Table.Th>Policies</Table.Th>
            <Table.Th className="wide-only">Groups</Table.Th>
            <Table.Th w={110}>Status</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {users.map((user) => (
            <Table.Tr key={user.name}>
              <Table.Td>
                <RowName name={user.name} icon={IconUser} to={may('admin:GetUser') ? userUrl(user.name) : undefined} />
              </Table.Td>
              <Table.Td>
                <Names names={user.policies} to={may('admin:GetPolicy') ? policyUrl : undefined} />
              </Table.Td>
              <Table.Td className="wide-only">
                <Names names={user.groups} to={may('admin:GetGroup') ? groupUrl : undefined} />
              </Table.Td>
              <Table.Td>
                <StatusBadge status={user.status} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}
