import { Button, TextInput } from '@mantine/core';
import { IconPlus, IconUser, IconUsers } from '@tabler/icons-react';
import { useState } from 'react';
import type { SecretAnswer, UserRow } from '../../../protocol/console/identity-answers.ts';
import { useRights, useSession } from '../api/session.ts';
import { useUsers, useCreateUser } from '../api/users.ts';
import { CredentialsDialog } from '../components/credentials-dialog.tsx';
import { Empty, notifyDone } from '../components/feedback.tsx';
import { ListPage, useSearch } from '../components/list-page.tsx';
import { type Column, Names, RowName, RowTable, StatusBadge } from '../components/row-table.tsx';
import { groupUrl, policyUrl, userUrl } from '../components/urls.ts';
import { GroupPicker, PolicyPicker } from '../components/name-picker.tsx';
import { fieldError, FormDialog } from '../components/form-dialog.tsx';
import { IdentityArchiveMenu } from './identity-archive.tsx';
import { SecretKeyChoice } from './secret-key.tsx';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';
import { useDraft } from '../components/use-draft.ts';

export function UsersPage() {
  const { may } = useRights();
  const search = useSearch();
  const users = useUsers(search.contains);
  const [creating, setCreating] = useDraft('creating', false);
  const [made, setMade] = useState<SecretAnswer>();
  const s3Url = useSession().data?.s3Url;
  const create = may('admin:CreateUser') && (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setCreating(true)}>
      {t.users.createUser}
    </Button>
  );
  return (
    <ListPage
      title={t.users.usersTitle}
      list={users}
      search={search}
      actions={
        <>
          <IdentityArchiveMenu />
          {create}
        </>
      }
      empty={
        <Empty
          icon={IconUsers}
          title={t.users.noUsersYet}
          missing={may('admin:CreateUser') ? undefined : 'admin:CreateUser'}
        >
          {t.users.peopleWhoSignInByAnIdentity}
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
              title={say(t.users.isCreatedName, { name: made.name })}
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
  const columns: readonly Column<UserRow>[] = [
    {
      head: t.labels.name,
      cell: ({ name }) => <RowName name={name} icon={IconUser} to={may('admin:GetUser') ? userUrl(name) : undefined} />,
    },
    {
      head: t.labels.policies,
      cell: ({ policies }) => <Names names={policies} to={may('admin:GetPolicy') ? policyUrl : undefined} />,
    },
    {
      head: t.labels.groups,
      wideOnly: true,
      cell: ({ groups }) => <Names names={groups} to={may('admin:GetGroup') ? groupUrl : undefined} />,
    },
    { head: t.labels.status, width: 110, cell: ({ status }) => <StatusBadge status={status} /> },
  ];
  return <RowTable rows={users} rowKey={({ name }) => name} columns={columns} />;
}

interface CreateUserDialogProps {
  readonly onCreated: (user: SecretAnswer) => void;
  readonly onClose: () => void;
}

function CreateUserDialog({ onCreated, onClose }: CreateUserDialogProps) {
  const { may } = useRights();
  const create = useCreateUser();
  const [name, setName] = useDraft('user.name', '');
  const [secretKey, setSecretKey] = useState<string>();
  const [policies, setPolicies] = useDraft<readonly string[]>('user.policies', []);
  const [groups, setGroups] = useDraft<readonly string[]>('user.groups', []);

  function submit(): void {
    create.mutate(
      { name: name.trim(), secretKey, policies, groups },
      {
        onSuccess: (user) => {
          notifyDone(say(t.users.isCreated, { name: user.name }));
          onCreated(user);
        },
      },
    );
  }

  return (
    <FormDialog
      title={t.users.createAUser}
      submit={t.users.createUser}
      pending={create.isPending}
      error={create.error}
      fields={['name', 'secretKey', 'policies']}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextInput
        label={t.labels.name}
        description={t.users.itIsTheAccessKeyToo3}
        required
        withAsterisk={false}
        data-autofocus
        autoCapitalize="none"
        autoComplete="off"
        spellCheck={false}
        maxLength={128}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={fieldError(create.error, 'name')}
      />
      <SecretKeyChoice value={secretKey} onChange={setSecretKey} error={fieldError(create.error, 'secretKey')} />
      {may('admin:AttachUserOrGroupPolicy') && (
        <PolicyPicker
          value={policies}
          onChange={setPolicies}
          error={fieldError(create.error, 'policies')}
          description={t.users.withoutAPolicyTheUserMayDo}
        />
      )}
      {may('admin:AddUserToGroup') && <GroupPicker value={groups} onChange={setGroups} />}
    </FormDialog>
  );
}
