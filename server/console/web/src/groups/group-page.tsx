import { Button } from '@mantine/core';
import { useState } from 'react';
import { useNavigate, useSearchParams } from 'react-router';
import type { GroupRow } from '../../../contract/identity-answers.ts';
import { useGroup, useSetGroupStatus, useSetGroupMembers, useSetGroupPolicies, useDeleteGroup } from '../api/groups.ts';
import { useRights } from '../api/session.ts';
import { DetailPage, Loaded, MoreMenu, Section } from '../components/detail-page.tsx';
import { Names, StatusBadge } from '../components/row-table.tsx';
import { policyUrl, userUrl } from '../components/urls.ts';
import { SetNamesDialog, SetPoliciesDialog } from '../components/set-names-dialog.tsx';
import { UserPicker } from '../components/name-picker.tsx';
import { RemoveDialog } from '../components/form-dialog.tsx';

type Dialog = 'policies' | 'members' | 'delete';

export function GroupPage() {
  const [search] = useSearchParams();
  const name = search.get('name') ?? '';
  const group = useGroup(name);
  return (
    <Loaded name={name} query={group}>
      {(found) => <Details key={name} group={found} />}
    </Loaded>
  );
}

function Details({ group }: { readonly group: GroupRow }) {
  const { may } = useRights();
  const navigate = useNavigate();
  const [dialog, setDialog] = useState<Dialog>();
  const close = () => setDialog(undefined);
  return (
    <DetailPage
      parent={{ name: 'Groups', to: '/groups' }}
      title={group.name}
      badge={<StatusBadge status={group.status} />}
      actions={<Actions group={group} open={setDialog} />}
    >
      <Section title="Members" words="The policies of a disabled group apply to no member.">
        <Names names={group.members} to={may('admin:GetUser') ? userUrl : undefined} />
      </Section>
      <Section title="Attached policies">
        <Names names={group.policies} to={may('admin:GetPolicy') ? policyUrl : undefined} />
      </Section>
      {dialog === 'members' && <GroupMembersDialog group={group} onClose={close} />}
      {dialog === 'policies' && <GroupPoliciesDialog group={group} onClose={close} />}
      {dialog === 'delete' && (
        <DeleteGroupDialog group={group} onClose={close} onDeleted={() => void navigate('/groups')} />
      )}
    </DetailPage>
  );
}

function Actions({ group, open }: { readonly group: GroupRow; readonly open: (dialog: Dialog) => void }) {
  const { may } = useRights();
  const setStatus = useSetGroupStatus();
  return (
    <>
      {may('admin:AddUserToGroup') && (
        <Button variant="default" onClick={() => open('members')}>
          Members…
        </Button>
      )}
      {may('admin:AttachUserOrGroupPolicy') && (
        <Button variant="default" onClick={() => open('policies')}>
          Policies…
        </Button>
      )}
      <MoreMenu
        of={group}
        setStatus={setStatus}
        mayToggle={may('admin:EnableGroup')}
        deleteLabel="Delete group…"
        mayDelete={may('admin:AddUserToGroup')}
        onDelete={() => open('delete')}
      />
    </>
  );
}

function GroupMembersDialog({ group, onClose }: { readonly group: GroupRow; readonly onClose: () => void }) {
  const title = `Members of ${group.name}`;
  const saved = `The members of ${group.name} are saved.`;
  const set = useSetGroupMembers(group.name);
  return (
    <SetNamesDialog title={title} names={group.members} set={set} saved={saved} onClose={onClose}>
      {(value, onChange) => <UserPicker value={value} onChange={onChange} />}
    </SetNamesDialog>
  );
}

function GroupPoliciesDialog({ group, onClose }: { readonly group: GroupRow; readonly onClose: () => void }) {
  const set = useSetGroupPolicies(group.name);
  return <SetPoliciesDialog holder={group} set={set} description="They apply to every member." onClose={onClose} />;
}

interface DeleteGroupDialogProps {
  readonly group: GroupRow;
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}

function DeleteGroupDialog({ group: { name, members }, onClose, onDeleted }: DeleteGroupDialogProps) {
  return (
    <RemoveDialog
      title={`Delete the group ${name}?`}
      submit="Delete group"
      remove={useDeleteGroup()}
      what={name}
      done={`${name} is deleted.`}
      onDone={onDeleted}
      onClose={onClose}
    >
      {members.length === 0
        ? 'It has no members. The attachments of policies to it are removed.'
        : 'A group with members is not deleted: remove them first.'}
    </RemoveDialog>
  );
}
