import { Button, Menu, Stack, Text } from '@mantine/core';
import { IconKey, IconScale } from '@tabler/icons-react';
import { Link, useNavigate, useSearchParams } from 'react-router';
import type { UserAnswer, UserRow } from '../../../protocol/console/identity-answers.ts';
import { PolicyInForceView } from '../policies/statements.tsx';
import { AccessKeyTable } from '../access-keys/access-key-table.tsx';
import { CreateAccessKeyButton } from '../access-keys/access-key-form.tsx';
import { useRights } from '../api/session.ts';
import { useSetUserStatus, useUser, useSetUserGroups, useSetUserPolicies, useDeleteUser } from '../api/users.ts';
import { DetailPage, Fact, Facts, LoadedPage, MoreMenu, Section } from '../components/detail-page.tsx';
import { Names, StatusBadge } from '../components/row-table.tsx';
import { explainUrl, groupUrl, policyUrl } from '../components/urls.ts';
import { formatTime } from '../text/format.ts';
import { ReachedBucketsSection } from './reached-buckets.tsx';
import { ReplaceSecretDialog } from './secret-key.tsx';
import { GroupPicker } from '../components/name-picker.tsx';
import { SetNamesDialog, SetPoliciesDialog } from '../components/set-names-dialog.tsx';
import { RemoveDialog } from '../components/form-dialog.tsx';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';
import { useDraft } from '../components/use-draft.ts';

const parent = { name: t.users.usersTitle, to: '/users' };

type Dialog = 'policies' | 'groups' | 'secret' | 'delete';

export function UserPage() {
  const [search] = useSearchParams();
  const name = search.get('name') ?? '';
  const user = useUser(name);
  return (
    <LoadedPage title={name} parent={parent} what={say(t.labels.cannotBeShown, { name })} query={user}>
      {(found) => <Details key={name} user={found} />}
    </LoadedPage>
  );
}

function Details({ user }: { readonly user: UserAnswer }) {
  const { may } = useRights();
  const navigate = useNavigate();
  const [dialog, setDialog] = useDraft<Dialog | undefined>('dialog', undefined);
  const close = () => setDialog(undefined);
  return (
    <DetailPage
      parent={parent}
      title={user.name}
      badge={<StatusBadge status={user.status} />}
      actions={<Actions user={user} open={setDialog} />}
    >
      <Facts>
        <Fact name={t.users.attachedPolicies}>
          <Names names={user.policies} to={may('admin:GetPolicy') ? policyUrl : undefined} />
        </Fact>
        <Fact name={t.labels.groups}>
          <Names names={user.groups} to={may('admin:GetGroup') ? groupUrl : undefined} />
        </Fact>
        <Fact name={t.users.changed}>{formatTime(user.updatedAt)}</Fact>
      </Facts>
      <Section title={t.users.policiesInForce} words={t.users.theAttachedPoliciesAndThoseOfThe}>
        {user.inForce.length === 0 ? (
          <Text size="sm">{t.users.noneSoNothingIsAllowed}</Text>
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
          title={t.labels.accessKeys}
          words={t.users.forTheUserProgramsTheyMayDo}
          action={may('admin:CreateServiceAccount') && <CreateAccessKeyButton owner={user.name} />}
        >
          {user.accessKeys.length === 0 ? (
            <Text size="sm" c="dimmed">
              {t.users.none}
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
          {t.labels.explain}
        </Button>
      )}
      {may('admin:AttachUserOrGroupPolicy') && (
        <Button variant="default" onClick={() => open('policies')}>
          {t.users.policies}
        </Button>
      )}
      {may('admin:AddUserToGroup') && (
        <Button variant="default" onClick={() => open('groups')}>
          {t.users.groupsDialog}
        </Button>
      )}
      <MoreMenu
        of={user}
        setStatus={setStatus}
        mayToggle={may('admin:EnableUser')}
        deleteLabel={t.users.deleteUser}
        mayDelete={may('admin:DeleteUser')}
        onDelete={() => open('delete')}
      >
        {may('admin:CreateUser') && (
          <Menu.Item leftSection={<IconKey size={15} />} onClick={() => open('secret')}>
            {t.users.newSecretKey}
          </Menu.Item>
        )}
      </MoreMenu>
    </>
  );
}

function UserGroupsDialog({ user, onClose }: { readonly user: UserRow; readonly onClose: () => void }) {
  const title = say(t.users.groupsOf, { name: user.name });
  const saved = say(t.users.theGroupsOfAreSaved, { name: user.name });
  return (
    <SetNamesDialog title={title} names={user.groups} set={useSetUserGroups(user.name)} saved={saved} onClose={onClose}>
      {(value, onChange) => <GroupPicker value={value} onChange={onChange} />}
    </SetNamesDialog>
  );
}

function UserPoliciesDialog({ user, onClose }: { readonly user: UserRow; readonly onClose: () => void }) {
  const set = useSetUserPolicies(user.name);
  const description = t.users.thePoliciesOfTheUserGroupsApply;
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
      title={say(t.users.deleteTheUser, { name })}
      submit={t.users.deleteUserTitle}
      remove={useDeleteUser()}
      what={name}
      done={say(t.users.isDeleted, { name })}
      onDone={onDeleted}
      onClose={onClose}
    >
      {t.users.accessKeysAndSessionsOfTheUser}
    </RemoveDialog>
  );
}
