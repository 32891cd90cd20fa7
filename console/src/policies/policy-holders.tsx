import type { PolicyHolder, PolicyAnswer } from '../../../protocol/console/identity-answers.ts';
import { ActionIcon, Anchor, Button, Stack, Table, Text, Tooltip, Select, TextInput } from '@mantine/core';
import { IconPlus, IconUnlink } from '@tabler/icons-react';
import { Link } from 'react-router';
import { useDetach, useAttach } from '../api/policies.ts';
import { useRights } from '../api/session.ts';
import { notifyDone, notifyFailure } from '../components/feedback.tsx';
import { groupUrl, userUrl } from '../components/urls.ts';
import { fieldError, FormDialog } from '../components/form-dialog.tsx';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';
import { useDraft } from '../components/use-draft.ts';

/** The names of the kinds of holders. */
const holderKinds: Readonly<Record<PolicyHolder['kind'], string>> = {
  user: t.policies.user,
  group: t.policies.group,
  claim: t.policies.claimOfAProvider,
  'ldap-user': t.policies.ldapUser,
  'ldap-group': t.policies.ldapGroup,
};

function describeHolder(holder: PolicyHolder): string {
  switch (holder.kind) {
    case 'claim':
      return say(t.policies.theClaimOf, { claim: holder.claim, value: holder.value, provider: holder.provider });
    case 'user':
      return say(t.policies.theUser, { name: holder.name });
    case 'group':
      return say(t.policies.theGroup, { name: holder.name });
    case 'ldap-user':
      return say(t.policies.theLdapUser, { name: holder.name });
    case 'ldap-group':
      return say(t.policies.theLdapGroup, { name: holder.name });
    default:
      return holder satisfies never;
  }
}

/** The holders of a policy: users, groups, claims of a provider, names of a directory. */
export function Holders({ policy }: { readonly policy: PolicyAnswer }) {
  const { may } = useRights();
  const [attaching, setAttaching] = useDraft('attaching', false);
  return (
    <Stack gap="sm" align="flex-start">
      {policy.holders.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t.policies.noneClaimsOrRolesOfAnIdentity}
        </Text>
      ) : (
        <HolderTable policy={policy} />
      )}
      {policy.moreHolders && (
        <Text size="sm" c="dimmed">
          {t.policies.andMoreThanAreShownHere}
        </Text>
      )}
      {may('admin:AttachUserOrGroupPolicy') && (
        <Button variant="default" leftSection={<IconPlus size={16} />} onClick={() => setAttaching(true)}>
          {t.policies.attach}
        </Button>
      )}
      {attaching && <AttachDialog policy={policy.name} onClose={() => setAttaching(false)} />}
    </Stack>
  );
}

function HolderTable({ policy }: { readonly policy: PolicyAnswer }) {
  const { may } = useRights();
  const detach = useDetach(policy.name);

  function take(holder: PolicyHolder): void {
    detach.mutate(holder, {
      onSuccess: () =>
        notifyDone(say(t.policies.isDetachedFrom, { name: policy.name, holder: describeHolder(holder) })),
      onError: (error) => notifyFailure(say(t.policies.staysAttached, { name: policy.name }), error),
    });
  }

  return (
    <div className="rows" style={{ width: '100%' }}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={180}>{t.labels.kind}</Table.Th>
            <Table.Th>{t.labels.who}</Table.Th>
            <Table.Th w={48} aria-label={t.labels.actions} />
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {policy.holders.map((holder) => (
            <Table.Tr key={`${holder.kind} ${describeHolder(holder)}`}>
              <Table.Td>{holderKinds[holder.kind]}</Table.Td>
              <Table.Td>
                <Who holder={holder} />
              </Table.Td>
              <Table.Td>
                {may('admin:AttachUserOrGroupPolicy') && (
                  <Tooltip label={t.policies.detach}>
                    <ActionIcon
                      size="sm"
                      className="row-actions"
                      aria-label={say(t.policies.detachFrom, { holder: describeHolder(holder) })}
                      onClick={() => take(holder)}
                    >
                      <IconUnlink size={16} />
                    </ActionIcon>
                  </Tooltip>
                )}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}

function Who({ holder }: { readonly holder: PolicyHolder }) {
  const { may } = useRights();
  if (holder.kind === 'user' && may('admin:GetUser')) {
    return (
      <Anchor component={Link} to={userUrl(holder.name)} size="sm">
        {holder.name}
      </Anchor>
    );
  }
  if (holder.kind === 'group' && may('admin:GetGroup')) {
    return (
      <Anchor component={Link} to={groupUrl(holder.name)} size="sm">
        {holder.name}
      </Anchor>
    );
  }
  return (
    <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
      {holder.kind === 'claim'
        ? say(t.policies.by, { claim: holder.claim, value: holder.value, provider: holder.provider })
        : holder.name}
    </Text>
  );
}

interface AttachDialogProps {
  readonly policy: string;
  readonly onClose: () => void;
}

const nameHints: Readonly<Record<Exclude<PolicyHolder['kind'], 'claim'>, string>> = {
  user: t.policies.theNameOfAUserOfThis,
  group: t.policies.theNameOfAGroupOfThis,
  'ldap-user': t.policies.aNameOrADistinguishedNameThe,
  'ldap-group': t.policies.aDistinguishedNameSuchAsCnStaff,
};

function AttachDialog({ policy, onClose }: AttachDialogProps) {
  const attach = useAttach(policy);
  const [kind, setKind] = useDraft<PolicyHolder['kind']>('attach.kind', 'user');
  const [name, setName] = useDraft('attach.name', '');
  const [provider, setProvider] = useDraft('attach.provider', '_');
  const [claim, setClaim] = useDraft('attach.claim', 'sub');
  const [value, setValue] = useDraft('attach.value', '');

  function submit(): void {
    const holder: PolicyHolder = kind === 'claim' ? { kind, provider, claim, value } : { kind, name };
    attach.mutate(holder, {
      onSuccess: () => {
        notifyDone(say(t.policies.isAttachedTo, { policy, holder: describeHolder(holder) }));
        onClose();
      },
    });
  }

  const text = { required: true, withAsterisk: false, spellCheck: false, autoComplete: 'off' } as const;
  return (
    <FormDialog
      title={say(t.policies.attachPolicy, { policy })}
      submit={t.policies.attachTitle}
      pending={attach.isPending}
      error={attach.error}
      fields={['name', 'provider', 'claim', 'value']}
      onSubmit={submit}
      onClose={onClose}
    >
      <Select
        label={t.policies.to}
        data={Object.entries(holderKinds).map(([one, label]) => ({ value: one, label }))}
        value={kind}
        onChange={(chosen) => setKind(kindOf(chosen))}
        allowDeselect={false}
      />
      {kind === 'claim' ? (
        <>
          <TextInput
            {...text}
            label={t.policies.provider}
            description={t.policies.theNameOfItsConfigurationWhereIt}
            value={provider}
            onChange={(event) => setProvider(event.currentTarget.value)}
            error={fieldError(attach.error, 'provider')}
          />
          <TextInput
            {...text}
            label={t.policies.claim}
            description={t.policies.itsNameOrAPathWithInto}
            value={claim}
            onChange={(event) => setClaim(event.currentTarget.value)}
            error={fieldError(attach.error, 'claim')}
          />
          <TextInput
            {...text}
            label={t.policies.value}
            description={t.policies.andAreWildSuchAsSystemServiceaccount}
            value={value}
            onChange={(event) => setValue(event.currentTarget.value)}
            error={fieldError(attach.error, 'value')}
          />
        </>
      ) : (
        <TextInput
          {...text}
          label={t.labels.name}
          description={nameHints[kind]}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={fieldError(attach.error, 'name')}
        />
      )}
    </FormDialog>
  );
}

function kindOf(chosen: string | null): PolicyHolder['kind'] {
  const found = Object.keys(holderKinds).find((kind) => kind === chosen);
  return (found ?? 'user') as PolicyHolder['kind'];
}
