import { Button, Stack } from '@mantine/core';
import { useState } from 'react';
import { useNavigate, useSearchParams } from 'react-router';
import type { GroupRow } from '../../../contract/identity-answers.ts';
import { useGroup, useSetGroupStatus } from '../api/groups.ts';
import { useRights } from '../api/rights.ts';
import { DetailHead } from '../shell/detail-head.tsx';
import { Loaded } from '../shell/loaded.tsx';
import { MoreMenu } from '../shell/more-menu.tsx';
import { Names } from '../shell/names.tsx';
import { policyUrl, userUrl } from '../shell/places.ts';
import { Section } from '../shell/section.tsx';
import { StatusBadge } from '../shell/status-badge.tsx';
import { DeleteGroupDialog } from './delete-group-dialog.tsx';
import { GroupMembersDialog } from './group-members-dialog.tsx';
import { GroupPoliciesDialog } from './group-policies-dialog.tsx';

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
    <Stack gap="xl" maw={960}>
      <DetailHead
        parent={{ name: 'Groups', to: '/groups' }}
        name={group.name}
        badge={<StatusBadge status={group.status} />}
        actions={<Actions group={group} open={setDialog} />}
      />
      <Section title="Members" words="While a group is disabled its policies count for nobody.">
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
    </Stack>
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
