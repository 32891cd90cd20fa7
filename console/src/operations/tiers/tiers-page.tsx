import { ActionIcon, Badge, Button, Group, Menu, Stack, Text } from '@mantine/core';
import { IconDots, IconKey, IconPlugConnected, IconPlus, IconSnowflake, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { useRights } from '../../api/session.ts';
import { DetailPage, Loaded } from '../../components/detail-page.tsx';
import { Empty, notifyDone, notifyFailure } from '../../components/feedback.tsx';
import { RemoveDialog } from '../../components/form-dialog.tsx';
import { type Column, RowTable } from '../../components/row-table.tsx';
import { formatBytes } from '../../text/format.ts';
import { AddTierDialog, TierKeysDialog } from './tier-dialogs.tsx';
import { type Tier, useCheckTier, useRemoveTier, useTiers } from './tier-queries.ts';
import { say } from '../../texts/say.ts';
import { t } from '../../texts/texts.ts';
import { useDraft } from '../../components/use-draft.ts';

/** The buckets of other servers to which lifecycle rules move bodies. */
export function TiersPage() {
  const { may } = useRights();
  const tiers = useTiers();
  const [adding, setAdding] = useDraft('adding', false);
  return (
    <DetailPage
      title={t.tiers.tiers}
      actions={
        may('admin:SetTier') && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => setAdding(true)}>
            {t.tiers.addTier}
          </Button>
        )
      }
    >
      <Loaded what={t.tiers.theTiersCannotBeShown} query={tiers}>
        {(rows) => (rows.length === 0 ? <NoTiers mayAdd={may('admin:SetTier')} /> : <Tiers tiers={rows} />)}
      </Loaded>
      {adding && <AddTierDialog onClose={() => setAdding(false)} />}
    </DetailPage>
  );
}

function NoTiers({ mayAdd }: { readonly mayAdd: boolean }) {
  return (
    <Empty icon={IconSnowflake} title={t.tiers.noTiers} missing={mayAdd ? undefined : 'admin:SetTier'}>
      {t.tiers.aTierIsABucketOfAnother}
    </Empty>
  );
}

function Tiers({ tiers }: { readonly tiers: readonly Tier[] }) {
  const { may } = useRights();
  const check = useCheckTier();
  const remove = useRemoveTier();
  const [edited, setEdited] = useDraft<Tier | undefined>('edited', undefined);
  const [removed, setRemoved] = useState<Tier>();

  function tryCalls(name: string): void {
    check.mutate(name, {
      onSuccess: () => notifyDone(say(t.tiers.theTierTakesAllCalls, { name })),
      onError: (error) => notifyFailure(say(t.tiers.theTierCannotBeUsed, { name }), error),
    });
  }

  const columns: readonly Column<Tier>[] = [
    { head: t.tiers.tier, cell: (tier) => <TierName tier={tier} /> },
    {
      head: t.tiers.stored,
      width: 190,
      cell: ({ stored }) => (
        <Text size="sm">
          {say(t.tiers.inVersions, { totalSize: formatBytes(stored.totalSize), numVersions: stored.numVersions })}
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
            <ActionIcon className="row-actions" size="sm" aria-label={say(t.labels.actionsFor, { name: tier.name })}>
              <IconDots size={17} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item leftSection={<IconPlugConnected size={15} />} onClick={() => tryCalls(tier.name)}>
              {t.tiers.check}
            </Menu.Item>
            {may('admin:SetTier') && (
              <Menu.Item leftSection={<IconKey size={15} />} onClick={() => setEdited(tier)}>
                {t.tiers.changeKeysDialog}
              </Menu.Item>
            )}
            {may('admin:SetTier') && (
              <Menu.Item
                color="var(--coffer-danger)"
                leftSection={<IconTrash size={15} />}
                onClick={() => setRemoved(tier)}
              >
                {t.tiers.remove}
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
        {t.tiers.theNumbersAreThoseOfTheLast}
      </Text>
      {edited !== undefined && <TierKeysDialog tier={edited} onClose={() => setEdited(undefined)} />}
      {removed !== undefined && (
        <RemoveDialog
          title={say(t.tiers.removeTheTier, { name: removed.name })}
          submit={t.tiers.removeTier}
          remove={remove}
          what={removed.name}
          done={say(t.tiers.theTierIsRemoved, { name: removed.name })}
          onDone={() => setRemoved(undefined)}
          onClose={() => setRemoved(undefined)}
        >
          {t.tiers.theServerRefusesWhileALifecycleRule}
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
        <Badge color="gray">{{ s3: 'S3', minio: 'MinIO', azure: 'Azure', gcs: 'Google' }[kind]}</Badge>
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
