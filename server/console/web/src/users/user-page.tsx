import { Button, Menu, Stack, Text } from '@mantine/core';
import { IconKey, IconScale } from '@tabler/icons-react';
import { useState } from 'react';
import { Link, useNavigate, useSearchParams } from 'react-router';
import type { UserAnswer, UserRow } from '../../../contract/identity-answers.ts';
import { PolicyInForceView } from '../policies/statements.tsx';
import { AccessKeyTable } from '../access-keys/access-key-table.tsx';
import { CreateAccessKeyButton } from '../access-keys/access-key-form.tsx';
import { useRights } from '../api/session.ts';
import { useSetUserStatus, useUser, useSetUserGroups, useSetUserPolicies, useDeleteUser } from '../api/users.ts';
import { DetailPage, Fact, Facts, Loaded, MoreMenu, Section } from '../components/detail-page.tsx';
import { Names, StatusBadge } from '../components/row-table.tsx';
import { explainUrl, groupUrl, policyUrl } from '../components/urls.ts';
import { formatTime } from '../text/format.ts';
import { ReachedBucketsSection } from './reached-buckets.tsx';
import { ReplaceSecretDialog } from './secret-key.tsx';
import { GroupPicker } from '../components/name-picker.tsx';
import { SetNamesDialog, SetPoliciesDialog } from '../components/set-names-dialog.tsx';
import { RemoveDialog } from '../components/form-dialog.tsx';

type Dialog = 'policies' | 'groups' | 'secret' | 'delete';

export function UserPage() {
  const [search] = useSearchParams();
  const name = search.get('name') ?? '';
  const user = useUser(name);
  return (
    <Loaded name={name} query={user}>
      {(found) => <Details key={name} user={found} />}
    </Loaded>
  );
}

function Details({ user }: { readonly user: UserAnswer }) {
  const { may } = useRights();
  const navigate = useNavigate();
  const [dialog, setDialog] = useState<Dialog>();
  const close = () => setDialog(undefined);
  return (
    <DetailPage
      parent={{ name: 'Users', to: '/users' }}
      title={user.name}
      badge={<StatusBadge status={user.status} />}
      actions={<Actions user={user} open={setDialog} />}
    >
      <Facts>
        <Fact name="Attached policies">
          <Names names={user.policies} to={may('admin:GetPolicy') ? policyUrl : undefined} />
        </Fact>
        <Fact name="Groups">
          <Names names={user.groups} to={may('admin:GetGroup') ? groupUrl : undefined} />
        </Fact>
        <Fact name="Changed">{formatTime(user.updatedAt)}</Fact>
      </Facts>
      <Section title="Policies in force" words="The attached policies, and those of the user’s enabled groups.">
        {user.inForce.length === 0 ? (
          <Text size="sm">None, so nothing is allowed.</Text>
        ) : (
          <Stack gap="md">
            {user.inForce.map((policy) => (
              <PolicyInForceView key={policy.name} policy={policy} />
            ))}
          </Stack>
        )}
      </Section>
      {may('admin:ExplainPolicy') && user.status === 'enabled' && <ReachedBucketsSection name={user.name} />}
      {user.accessKeys !== undefined && (
        <Section
          title="Access keys"
          words="For the user’s programs. They may do what the user may, unless a policy of the key restricts it."
          action={may('admin:CreateServiceAccount') && <CreateAccessKeyButton owner={user.name} />}
        >
          {user.accessKeys.length === 0 ? (
            <Text size="sm" c="dimmed">
              None.
            </Text>
          ) : (
            <AccessKeyTable keys={user.accessKeys} showOwner={false} />
          )}
        </Section>
      )}
      {dialog === 'policies' && <UserPoliciesDialog user={user} onClose={close} />}
      {dialog === 'groups' && <UserGroupsDialog user={user} onClose={close} />}
      {dialog === 'secret' && <ReplaceSecretDialog name={user.name} onClose={close} />}
      {dialog === 'delete' && (
        <DeleteUserDialog name={user.name} onClose={close} onDeleted={() => void navigate('/users')} />
      )}
    </DetailPage>
  );
}

function Actions({ user, open }: { readonly user: UserAnswer; readonly open: (dialog: Dialog) => void }) {
  const { may } = useRights();
  const setStatus = useSetUserStatus();
  return (
    <>
      {may('admin:ExplainPolicy') && (
        <Button component={Link} to={explainUrl(user.name)} variant="default" leftSection={<IconScale size={16} />}>
          Explain
        </Button>
      )}
      {may('admin:AttachUserOrGroupPolicy') && (
        <Button variant="default" onClick={() => open('policies')}>
          Policies…
        </Button>
      )}
      {may('admin:AddUserToGroup') && (
        <Button variant="default" onClick={() => open('groups')}>
          Groups…
        </Button>
      )}
      <MoreMenu
        of={user}
        setStatus={setStatus}
        mayToggle={may('admin:EnableUser')}
        deleteLabel="Delete user…"
        mayDelete={may('admin:DeleteUser')}
        onDelete={() => open('delete')}
      >
        <Menu.Item
          disabled={!may('admin:CreateUser')}
          leftSection={<IconKey size={15} />}
          onClick={() => open('secret')}
        >
          New secret key…
        </Menu.Item>
      </MoreMenu>
    </>
  );
}

function UserGroupsDialog({ user, onClose }: { readonly user: UserRow; readonly onClose: () => void }) {
  const title = `Groups of ${user.name}`;
  const saved = `The groups of ${user.name} are saved.`;
  return (
    <SetNamesDialog title={title} names={user.groups} set={useSetUserGroups(user.name)} saved={saved} onClose={onClose}>
      {(value, onChange) => <GroupPicker value={value} onChange={onChange} />}
    </SetNamesDialog>
  );
}

function UserPoliciesDialog({ user, onClose }: { readonly user: UserRow; readonly onClose: () => void }) {
  const set = useSetUserPolicies(user.name);
  const description = 'The policies of the user’s groups apply too.';
  return <SetPoliciesDialog holder={user} set={set} description={description} onClose={onClose} />;
}

interface DeleteUserDialogProps {
  readonly name: string;
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}

function DeleteUserDialog({ name, onClose, onDeleted }: DeleteUserDialogProps) {
  return (
    <RemoveDialog
      title={`Delete the user ${name}?`}
      submit="Delete user"
      remove={useDeleteUser()}
      what={name}
      done={`${name} is deleted.`}
      onDone={onDeleted}
      onClose={onClose}
    >
      Access keys and sessions of the user go with them. To keep them for later, disable the user instead.
    </RemoveDialog>
  );
}
