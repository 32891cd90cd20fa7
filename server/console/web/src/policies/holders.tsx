import { ActionIcon, Anchor, Button, Stack, Table, Text, Tooltip } from '@mantine/core';
import { IconPlus, IconUnlink } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'react-router';
import type { PolicyAnswer, PolicyHolder } from '../../../contract/identity-answers.ts';
import { useDetach } from '../api/policies.ts';
import { useRights } from '../api/rights.ts';
import { notifyDone, notifyFailure } from '../shell/notify.ts';
import { groupUrl, userUrl } from '../shell/places.ts';
import { AttachDialog } from './attach-dialog.tsx';
import { describeHolder, holderKinds } from './holder-kinds.ts';

/** To whom a policy is attached: users, groups, claims of a provider, names of a directory. */
export function Holders({ policy }: { readonly policy: PolicyAnswer }) {
  const { may } = useRights();
  const [attaching, setAttaching] = useState(false);
  return (
    <Stack gap="sm" align="flex-start">
      {policy.holders.length === 0 ? (
        <Text size="sm" c="dimmed">
          Nobody. It may still be named by claims or roles of an identity provider.
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
