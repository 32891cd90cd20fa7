import { Button, Text, TextInput } from '@mantine/core';
import { IconPlus, IconUsersGroup } from '@tabler/icons-react';
import { useNavigate } from 'react-router';
import type { GroupRow } from '../../../protocol/console/identity-answers.ts';
import { useGroups, useCreateGroup } from '../api/groups.ts';
import { useRights } from '../api/session.ts';
import { Empty, notifyDone } from '../components/feedback.tsx';
import { ListPage, useSearch } from '../components/list-page.tsx';
import { type Column, Names, RowName, RowTable, StatusBadge } from '../components/row-table.tsx';
import { groupUrl, policyUrl } from '../components/urls.ts';
import { PolicyPicker, UserPicker } from '../components/name-picker.tsx';
import { fieldError, FormDialog } from '../components/form-dialog.tsx';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';
import { useDraft } from '../components/use-draft.ts';

export function GroupsPage() {
  const { may } = useRights();
  const navigate = useNavigate();
  const search = useSearch();
  const groups = useGroups(search.contains);
  const [creating, setCreating] = useDraft('creating', false);
  return (
    <ListPage
      title={t.labels.groups}
      list={groups}
      search={search}
      actions={
        may('admin:AddUserToGroup') && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => setCreating(true)}>
            {t.users.createGroup}
          </Button>
        )
      }
      empty={
        <Empty
          icon={IconUsersGroup}
          title={t.users.noGroupsYet}
          missing={may('admin:AddUserToGroup') ? undefined : 'admin:AddUserToGroup'}
        >
          {t.users.aGroupGivesItsPoliciesToAll}
        </Empty>
      }
      dialogs={
        creating && (
          <CreateGroupDialog
            onClose={() => setCreating(false)}
            onCreated={(name) => {
              // The page of the group may have to be loaded first. Meanwhile, the form must not stand there to be sent again.
              setCreating(false);
              void navigate(groupUrl(name));
            }}
          />
        )
      }
    >
      {(rows) => <GroupTable groups={rows} />}
    </ListPage>
  );
}

function GroupTable({ groups }: { readonly groups: readonly GroupRow[] }) {
  const { may } = useRights();
  const columns: readonly Column<GroupRow>[] = [
    { head: t.labels.name, cell: ({ name }) => <RowName name={name} icon={IconUsersGroup} to={groupUrl(name)} /> },
    {
      head: t.labels.policies,
      cell: ({ policies }) => <Names names={policies} to={may('admin:GetPolicy') ? policyUrl : undefined} />,
    },
    {
      head: t.users.members,
      width: 110,
      align: 'right',
      wideOnly: true,
      cell: ({ members }) => <Text size="sm">{members.length}</Text>,
    },
    { head: t.labels.status, width: 110, cell: ({ status }) => <StatusBadge status={status} /> },
  ];
  return <RowTable rows={groups} rowKey={({ name }) => name} columns={columns} />;
}

interface CreateGroupDialogProps {
  readonly onCreated: (name: string) => void;
  readonly onClose: () => void;
}

function CreateGroupDialog({ onCreated, onClose }: CreateGroupDialogProps) {
  const { may } = useRights();
  const create = useCreateGroup();
  const [name, setName] = useDraft('group.name', '');
  const [members, setMembers] = useDraft<readonly string[]>('group.members', []);
  const [policies, setPolicies] = useDraft<readonly string[]>('group.policies', []);

  function submit(): void {
    create.mutate(
      { name: name.trim(), members, policies },
      {
        onSuccess: (group) => {
          notifyDone(say(t.users.isCreated, { name: group.name }));
          onCreated(group.name);
        },
      },
    );
  }

  return (
    <FormDialog
      title={t.users.createAGroup}
      submit={t.users.createGroup}
      pending={create.isPending}
      error={create.error}
      fields={['name', 'policies']}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextInput
        label={t.labels.name}
        required
        withAsterisk={false}
        data-autofocus
        autoComplete="off"
        spellCheck={false}
        maxLength={128}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={fieldError(create.error, 'name')}
      />
      <UserPicker value={members} onChange={setMembers} />
      {may('admin:AttachUserOrGroupPolicy') && (
        <PolicyPicker value={policies} onChange={setPolicies} error={fieldError(create.error, 'policies')} />
      )}
    </FormDialog>
  );
}
