import { ActionIcon, Box, Button, Menu, Text } from '@mantine/core';
import { IconDots, IconLock, IconPackage, IconPackages, IconPlus, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'react-router';
import type { BucketSummary } from '../../../protocol/console/answers.ts';
import { useBuckets, useCountTime, useMayCreate } from '../api/buckets.ts';
import { useBucketRights } from '../api/rights.ts';
import { MenuNote } from '../components/menu-note.tsx';
import { Empty } from '../components/feedback.tsx';
import { ListPage, useSearch } from '../components/list-page.tsx';
import { type Column, RowTable, TimeText } from '../components/row-table.tsx';
import { formatBytes, formatCount, formatExactTime, formatTime } from '../text/format.ts';
import { CreateBucketDialog, DeleteBucketDialog } from './bucket-dialogs.tsx';
import { EncryptionBadge, EncryptionDialog } from './bucket-encryption.tsx';
import { rich, say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';
import { useDraft } from '../components/use-draft.ts';

type Dialog = { readonly kind: 'delete' | 'encryption'; readonly bucket: BucketSummary };

export function BucketsPage() {
  const search = useSearch();
  const buckets = useBuckets(search.contains);
  const mayCreate = useMayCreate();
  const [creating, setCreating] = useDraft('creating', false);
  const [dialog, setDialog] = useDraft<Dialog | undefined>('dialog', undefined);
  const close = () => setDialog(undefined);
  return (
    <ListPage
      title={t.labels.buckets}
      list={buckets}
      search={search}
      actions={
        mayCreate && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => setCreating(true)}>
            {t.buckets.createBucket}
          </Button>
        )
      }
      empty={
        <Empty icon={IconPackages} title={t.buckets.noBucketsYet}>
          {say(t.buckets.aBucketHoldsObjectsBucketsThatYour, {
            advice: mayCreate
              ? t.buckets.createTheFirstOneHereOrWith
              : say(t.components.toCreateOneYouNeedTheRight, { right: 's3:CreateBucket' }),
          })}
        </Empty>
      }
      dialogs={
        <>
          <CreateBucketDialog opened={creating} onClose={() => setCreating(false)} />
          {dialog?.kind === 'delete' && <DeleteBucketDialog bucket={dialog.bucket.name} onClose={close} />}
          {dialog?.kind === 'encryption' && <EncryptionDialog bucket={dialog.bucket} onClose={close} />}
        </>
      }
    >
      {(rows) => (
        <>
          <BucketTable buckets={rows} open={setDialog} />
          <CountTime />
        </>
      )}
    </ListPage>
  );
}

function CountTime() {
  const counted = useCountTime();
  if (counted === undefined) return null;
  return (
    <Text size="sm" c="dimmed" className="wide-only">
      {rich(t.buckets.objectsAndSizesAsOf, {
        counted: (
          <time dateTime={counted} title={formatExactTime(counted)}>
            {formatTime(counted)}
          </time>
        ),
      })}
    </Text>
  );
}

interface BucketTableProps {
  readonly buckets: readonly BucketSummary[];
  readonly open: (dialog: Dialog) => void;
}

function BucketTable({ buckets, open }: BucketTableProps) {
  const columns: readonly Column<BucketSummary>[] = [
    {
      head: t.labels.name,
      cell: ({ name, encryption, usage }) => (
        <>
          <Link className="row-name" to={`/buckets/${encodeURIComponent(name)}`}>
            <IconPackage size={18} stroke={1.5} className="row-icon" data-kind="folder" aria-hidden />
            <span>{name}</span>
          </Link>
          <Box pl={28} className="narrow-only">
            {usage !== undefined && (
              <Text size="xs" c="dimmed">
                {say(t.buckets.objectsAndSize, { objects: usage.objects, size: formatBytes(usage.bytes) })}
              </Text>
            )}
            <EncryptionBadge encryption={encryption} alone />
          </Box>
        </>
      ),
    },
    {
      head: t.labels.objects,
      width: 110,
      align: 'right',
      wideOnly: true,
      cell: ({ usage }) => (usage === undefined ? '–' : formatCount(usage.objects)),
    },
    {
      head: t.labels.size,
      width: 110,
      align: 'right',
      wideOnly: true,
      cell: ({ usage }) => (usage === undefined ? '–' : formatBytes(usage.bytes)),
    },
    {
      head: t.buckets.defaultEncryption,
      width: 240,
      wideOnly: true,
      cell: ({ encryption }) => <EncryptionBadge encryption={encryption} />,
    },
    { head: t.labels.created, width: 190, wideOnly: true, cell: ({ created }) => <TimeText at={created} /> },
    { head: undefined, width: 48, cell: (bucket) => <BucketMenu bucket={bucket} open={open} /> },
  ];
  return <RowTable rows={buckets} rowKey={({ name }) => name} columns={columns} />;
}

interface BucketMenuProps {
  readonly bucket: BucketSummary;
  readonly open: (dialog: Dialog) => void;
}

function BucketMenu({ bucket, open }: BucketMenuProps) {
  const [asked, setAsked] = useState(false);
  return (
    <Menu position="bottom-end" onOpen={() => setAsked(true)}>
      <Menu.Target>
        <ActionIcon className="row-actions" size="sm" aria-label={say(t.labels.actionsFor, { name: bucket.name })}>
          <IconDots size={17} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <BucketItems {...{ bucket, open, asked }} />
      </Menu.Dropdown>
    </Menu>
  );
}

/** Asks for the rights on the bucket when the menu opens. */
function BucketItems({ bucket, open, asked }: BucketMenuProps & { readonly asked: boolean }) {
  const { known, bucket: may } = useBucketRights(bucket.name, '', asked);
  const encrypts = may('s3:GetEncryptionConfiguration') && may('s3:PutEncryptionConfiguration');
  if (!known || !(encrypts || may('s3:DeleteBucket'))) return <MenuNote known={known} />;
  return (
    <>
      {encrypts && (
        <Menu.Item leftSection={<IconLock size={15} />} onClick={() => open({ kind: 'encryption', bucket })}>
          {t.buckets.defaultEncryptionDialog}
        </Menu.Item>
      )}
      {may('s3:DeleteBucket') && (
        <Menu.Item
          color="var(--coffer-danger)"
          leftSection={<IconTrash size={15} />}
          onClick={() => open({ kind: 'delete', bucket })}
        >
          {t.buckets.deleteBucketDialog}
        </Menu.Item>
      )}
    </>
  );
}
