import type { PolicyHolder, PolicyAnswer } from '../../../contract/identity-answers.ts';
import { ActionIcon, Anchor, Button, Stack, Table, Text, Tooltip, Select, TextInput } from '@mantine/core';
import { IconPlus, IconUnlink } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'react-router';
import { useDetach, useAttach } from '../api/policies.ts';
import { useRights } from '../api/session.ts';
import { notifyDone, notifyFailure } from '../components/feedback.tsx';
import { groupUrl, userUrl } from '../components/urls.ts';
import { fieldError, FormDialog } from '../components/form-dialog.tsx';

/** The names of the kinds of holders. */
const holderKinds: Readonly<Record<PolicyHolder['kind'], string>> = {
  user: 'User',
  group: 'Group',
  claim: 'Claim of a provider',
  'ldap-user': 'LDAP user',
  'ldap-group': 'LDAP group',
};

function describeHolder(holder: PolicyHolder): string {
  if (holder.kind === 'claim') return `the claim ${holder.claim}=${holder.value} of ${holder.provider}`;
  return `the ${holderKinds[holder.kind].replace(/^(?=[UG])./, (letter) => letter.toLowerCase())} ${holder.name}`;
}

/** The holders of a policy: users, groups, claims of a provider, names of a directory. */
export function Holders({ policy }: { readonly policy: PolicyAnswer }) {
  const { may } = useRights();
  const [attaching, setAttaching] = useState(false);
  return (
    <Stack gap="sm" align="flex-start">
      {policy.holders.length === 0 ? (
        <Text size="sm" c="dimmed">
          None. Claims or roles of an identity provider may still name it.
        </Text>
      ) : (
        <HolderTable policy={policy} />
      )}
      {policy.moreHolders && (
        <Text size="sm" c="dimmed">
          And more than are shown here.
        </Text>
      )}
      {may('admin:AttachUserOrGroupPolicy') && (
        <Button variant="default" leftSection={<IconPlus size={16} />} onClick={() => setAttaching(true)}>
          Attach…
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
      onSuccess: () => notifyDone(`${policy.name} is detached from ${describeHolder(holder)}.`),
      onError: (error) => notifyFailure(`${policy.name} stays attached`, error),
    });
  }

  return (
    <div className="rows" style={{ width: '100%' }}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={180}>Kind</Table.Th>
            <Table.Th>Who</Table.Th>
            <Table.Th w={48} aria-label="Actions" />
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
                  <Tooltip label="Detach">
                    <ActionIcon
                      size="sm"
                      className="row-actions"
                      aria-label={`Detach from ${describeHolder(holder)}`}
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
      {holder.kind === 'claim' ? `${holder.claim} = ${holder.value}, by ${holder.provider}` : holder.name}
    </Text>
  );
}

interface AttachDialogProps {
  readonly policy: string;
  readonly onClose: () => void;
}

const nameHints: Readonly<Record<Exclude<PolicyHolder['kind'], 'claim'>, string>> = {
  user: 'The name of a user of this store.',
  group: 'The name of a group of this store.',
  'ldap-user': 'A name or a distinguished name; the directory must know it.',
  'ldap-group': 'A distinguished name, such as cn=staff,dc=example,dc=org.',
};

function AttachDialog({ policy, onClose }: AttachDialogProps) {
  const attach = useAttach(policy);
  const [kind, setKind] = useState<PolicyHolder['kind']>('user');
  const [name, setName] = useState('');
  const [provider, setProvider] = useState('_');
  const [claim, setClaim] = useState('sub');
  const [value, setValue] = useState('');

  function submit(): void {
    const holder: PolicyHolder = kind === 'claim' ? { kind, provider, claim, value } : { kind, name };
    attach.mutate(holder, {
      onSuccess: () => {
        notifyDone(`${policy} is attached to ${describeHolder(holder)}.`);
        onClose();
      },
    });
  }

  const text = { required: true, withAsterisk: false, spellCheck: false, autoComplete: 'off' } as const;
  return (
    <FormDialog
      title={`Attach ${policy}`}
      submit="Attach"
      pending={attach.isPending}
      error={attach.error}
      fields={['name', 'provider', 'claim', 'value']}
      onSubmit={submit}
      onClose={onClose}
    >
      <Select
        label="To"
        data={Object.entries(holderKinds).map(([one, label]) => ({ value: one, label }))}
        value={kind}
        onChange={(chosen) => setKind(kindOf(chosen))}
        allowDeselect={false}
      />
      {kind === 'claim' ? (
        <>
          <TextInput
            {...text}
            label="Provider"
            description="The name of its configuration, _ where it has none."
            value={provider}
            onChange={(event) => setProvider(event.currentTarget.value)}
            error={fieldError(attach.error, 'provider')}
          />
          <TextInput
            {...text}
            label="Claim"
            description="Its name, or a path with / into claims, such as kubernetes.io/namespace."
            value={claim}
            onChange={(event) => setClaim(event.currentTarget.value)}
            error={fieldError(attach.error, 'claim')}
          />
          <TextInput
            {...text}
            label="Value"
            description="* and ? are wild, such as system:serviceaccount:apps:*."
            value={value}
            onChange={(event) => setValue(event.currentTarget.value)}
            error={fieldError(attach.error, 'value')}
          />
        </>
      ) : (
        <TextInput
          {...text}
          label="Name"
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
