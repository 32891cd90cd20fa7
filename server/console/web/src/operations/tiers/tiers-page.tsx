import { ActionIcon, Badge, Button, Group, Menu, Stack, Text } from '@mantine/core';
import { IconDots, IconPlus, IconSnowflake } from '@tabler/icons-react';
import { useState } from 'react';
import { useRights } from '../../api/session.ts';
import { DetailPage, Loaded } from '../../components/detail-page.tsx';
import { Empty, notifyDone, notifyFailure } from '../../components/feedback.tsx';
import { RemoveDialog } from '../../components/form-dialog.tsx';
import { type Column, RowTable } from '../../components/row-table.tsx';
import { formatBytes } from '../../text/format.ts';
import { AddTierDialog, TierKeysDialog } from './tier-dialogs.tsx';
import { type Tier, useCheckTier, useRemoveTier, useTiers } from './tier-queries.ts';

/** The buckets of other servers to which lifecycle rules move bodies. */
export function TiersPage() {
  const { may } = useRights();
  const tiers = useTiers();
  const [adding, setAdding] = useState(false);
  return (
    <DetailPage
      title="Tiers"
      width={1_080}
      actions={
        may('admin:SetTier') && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => setAdding(true)}>
            Add tier
          </Button>
        )
      }
    >
      <Loaded name="The tiers" query={tiers}>
        {(rows) => (rows.length === 0 ? <NoTiers mayAdd={may('admin:SetTier')} /> : <Tiers tiers={rows} />)}
      </Loaded>
      {adding && <AddTierDialog onClose={() => setAdding(false)} />}
    </DetailPage>
  );
}

function NoTiers({ mayAdd }: { readonly mayAdd: boolean }) {
  return (
    <Empty icon={<IconSnowflake size={30} stroke={1.4} />} title="No tiers">
      A tier is a bucket of another server. Lifecycle rules move the bodies of objects there; the objects are read as
      before. {!mayAdd && 'Adding one needs admin:SetTier, which an administrator can allow.'}
    </Empty>
  );
}

function Tiers({ tiers }: { readonly tiers: readonly Tier[] }) {
  const { may } = useRights();
  const check = useCheckTier();
  const remove = useRemoveTier();
  const [edited, setEdited] = useState<Tier>();
  const [removed, setRemoved] = useState<Tier>();

  function tryCalls(name: string): void {
    check.mutate(name, {
      onSuccess: () => notifyDone(`The tier ${name} takes all calls.`),
      onError: (error) => notifyFailure(`The tier ${name} cannot be used`, error),
    });
  }

  const columns: readonly Column<Tier>[] = [
    { head: 'Tier', cell: (tier) => <TierName tier={tier} /> },
    {
      head: 'Stored',
      width: 190,
      cell: ({ stored }) => (
        <Text size="sm">
          {formatBytes(stored.totalSize)} in {stored.numVersions.toLocaleString()} versions
        </Text>
      ),
    },
    {
      head: undefined,
      width: 60,
      align: 'right',
      cell: (tier) => (
        <Menu position="bottom-end">
          <Menu.Target>
            <ActionIcon aria-label={`Actions for ${tier.name}`}>
              <IconDots size={17} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => tryCalls(tier.name)}>Check</Menu.Item>
            {may('admin:SetTier') && <Menu.Item onClick={() => setEdited(tier)}>Change keys…</Menu.Item>}
            {may('admin:SetTier') && (
              <Menu.Item color="red" onClick={() => setRemoved(tier)}>
                Remove…
              </Menu.Item>
            )}
          </Menu.Dropdown>
        </Menu>
      ),
    },
  ];
  return (
    <Stack gap="sm">
      <RowTable rows={tiers} rowKey={({ name }) => name} columns={columns} />
      <Text size="xs" c="dimmed">
        The numbers are those of the last count of objects and bytes.
      </Text>
      {edited !== undefined && <TierKeysDialog tier={edited} onClose={() => setEdited(undefined)} />}
      {removed !== undefined && (
        <RemoveDialog
          title={`Remove the tier ${removed.name}?`}
          submit="Remove tier"
          remove={remove}
          what={removed.name}
          done={`The tier ${removed.name} is removed.`}
          onDone={() => setRemoved(undefined)}
          onClose={() => setRemoved(undefined)}
        >
          The server refuses while a lifecycle rule names the tier or a body is there. The bucket of the other server
          stays.
        </RemoveDialog>
      )}
    </Stack>
  );
}

function TierName({ tier: { name, kind, endpoint, bucket, prefix, storageClass, region } }: { readonly tier: Tier }) {
  const more = [storageClass, region].filter((text) => text !== '');
  return (
    <Stack gap={0} style={{ overflowWrap: 'anywhere' }}>
      <Group gap="xs">
        <Text size="sm" fw={550}>
          {name}
        </Text>
        <Badge color="gray">{{ s3: 'S3', minio: 'MinIO', azure: 'Azure' }[kind]}</Badge>
      </Group>
      <Text size="xs" c="dimmed" className="mono">
        {endpoint}/{bucket}
        {prefix === '' ? '' : `/${prefix}`}
      </Text>
      {more.length > 0 && (
        <Text size="xs" c="dimmed">
          {more.join(', ')}
        </Text>
      )}
    </Stack>
  );
}
