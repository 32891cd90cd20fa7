import { Button } from '@mantine/core';
import { useNavigate, useSearchParams } from 'react-router';
import type { GroupRow } from '../../../protocol/console/identity-answers.ts';
import { useGroup, useSetGroupStatus, useSetGroupMembers, useSetGroupPolicies, useDeleteGroup } from '../api/groups.ts';
import { useRights } from '../api/session.ts';
import { DetailPage, LoadedPage, MoreMenu, Section } from '../components/detail-page.tsx';
import { Names, StatusBadge } from '../components/row-table.tsx';
import { policyUrl, userUrl } from '../components/urls.ts';
import { SetNamesDialog, SetPoliciesDialog } from '../components/set-names-dialog.tsx';
import { UserPicker } from '../components/name-picker.tsx';
import { RemoveDialog } from '../components/form-dialog.tsx';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';
import { useDraft } from '../components/use-draft.ts';

const parent = { name: t.labels.groups, to: '/groups' };

type Dialog = 'policies' | 'members' | 'delete';

export function GroupPage() {
  const [search] = useSearchParams();
  const name = search.get('name') ?? '';
  const group = useGroup(name);
  return (
    <LoadedPage title={name} parent={parent} what={say(t.labels.cannotBeShown, { name })} query={group}>
      {(found) => <Details key={name} group={found} />}
    </LoadedPage>
  );
}

function Details({ group }: { readonly group: GroupRow }) {
  const { may } = useRights();
  const navigate = useNavigate();
  const [dialog, setDialog] = useDraft<Dialog | undefined>('dialog', undefined);
  const close = () => setDialog(undefined);
  return (
    <DetailPage
      parent={parent}
      title={group.name}
      badge={<StatusBadge status={group.status} />}
      actions={<Actions group={group} open={setDialog} />}
    >
      <Section title={t.users.members} words={t.users.thePoliciesOfADisabledGroupApply}>
        <Names names={group.members} to={may('admin:GetUser') ? userUrl : undefined} />
      </Section>
      <Section title={t.users.attachedPolicies}>
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
          {t.users.membersDialog}
        </Button>
      )}
      {may('admin:AttachUserOrGroupPolicy') && (
        <Button variant="default" onClick={() => open('policies')}>
          {t.users.policies}
        </Button>
      )}
      <MoreMenu
        of={group}
        setStatus={setStatus}
        mayToggle={may('admin:EnableGroup')}
        deleteLabel={t.users.deleteGroup}
        mayDelete={may('admin:AddUserToGroup')}
        onDelete={() => open('delete')}
      />
    </>
  );
}

function GroupMembersDialog({ group, onClose }: { readonly group: GroupRow; readonly onClose: () => void }) {
  const title = say(t.users.membersOf, { name: group.name });
  const saved = say(t.users.theMembersOfAreSaved, { name: group.name });
  const set = useSetGroupMembers(group.name);
  return (
    <SetNamesDialog title={title} names={group.members} set={set} saved={saved} onClose={onClose}>
      {(value, onChange) => <UserPicker value={value} onChange={onChange} />}
    </SetNamesDialog>
  );
}

function GroupPoliciesDialog({ group, onClose }: { readonly group: GroupRow; readonly onClose: () => void }) {
  const set = useSetGroupPolicies(group.name);
  return <SetPoliciesDialog holder={group} set={set} description={t.users.theyApplyToEveryMember} onClose={onClose} />;
}

interface DeleteGroupDialogProps {
  readonly group: GroupRow;
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}

function DeleteGroupDialog({ group: { name, members }, onClose, onDeleted }: DeleteGroupDialogProps) {
  return (
    <RemoveDialog
      title={say(t.users.deleteTheGroup, { name })}
      submit={t.users.deleteGroupTitle}
      remove={useDeleteGroup()}
      what={name}
      done={say(t.users.isDeleted, { name })}
      onDone={onDeleted}
      onClose={onClose}
    >
      {members.length === 0 ? t.users.itHasNoMembersTheAttachmentsOf : t.users.aGroupWithMembersIsNotDeleted}
    </RemoveDialog>
  );
}
