import { Button, Menu, Stack } from '@mantine/core';
import { IconChevronDown, IconPlayerPause, IconPlayerPlay, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { useNavigate, useSearchParams } from 'react-router';
import type { GroupRow } from '../../../contract/identity-answers.ts';
import { useGroup, useSetGroupStatus } from '../api/groups.ts';
import { useRights } from '../api/rights.ts';
import { DetailHead } from '../shell/detail-head.tsx';
import { Failure } from '../shell/failure.tsx';
import { LoadingRows } from '../shell/list-page.tsx';
import { Names } from '../shell/names.tsx';
import { notifyDone, notifyFailure } from '../shell/notify.ts';
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
  if (group.isPending) return <LoadingRows />;
  if (group.isError) return <Failure what={`${name} cannot be shown`} error={group.error} retry={group.refetch} />;
  return <Details key={name} group={group.data} />;
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
  const next = group.status === 'enabled' ? 'disabled' : 'enabled';

  function toggle(): void {
    setStatus.mutate(
      { name: group.name, status: next },
      {
        onSuccess: () => notifyDone(`${group.name} is ${next}.`),
        onError: (error) => notifyFailure(`${group.name} stays ${group.status}`, error),
      },
    );
  }

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
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" rightSection={<IconChevronDown size={15} />}>
            More
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            disabled={!may('admin:EnableGroup')}
            leftSection={next === 'disabled' ? <IconPlayerPause size={15} /> : <IconPlayerPlay size={15} />}
            onClick={toggle}
          >
            {next === 'disabled' ? 'Disable' : 'Enable'}
          </Menu.Item>
          <Menu.Item
            color="red"
            disabled={!may('admin:AddUserToGroup')}
            leftSection={<IconTrash size={15} />}
            onClick={() => open('delete')}
          >
            Delete group…
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </>
  );
}
