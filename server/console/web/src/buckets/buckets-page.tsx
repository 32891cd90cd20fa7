import { ActionIcon, Button, Group, Menu, Skeleton, Stack, Table, Text, TextInput, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { IconDots, IconLock, IconPackage, IconPackages, IconPlus, IconSearch, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'react-router';
import type { BucketSummary } from '../../../contract/answers.ts';
import { useBuckets } from '../api/buckets.ts';
import { Empty, Failure } from '../components/feedback.tsx';
import { formatBytes, formatExactTime, formatTime } from '../text/format.ts';
import { CreateBucketDialog, DeleteBucketDialog } from './bucket-dialogs.tsx';
import { EncryptionBadge, EncryptionDialog } from './bucket-encryption.tsx';

type Dialog = { readonly kind: 'delete' | 'encryption'; readonly bucket: BucketSummary };

export function BucketsPage() {
  useDocumentTitle('Buckets · Coffer');
  const buckets = useBuckets();
  const [filter, setFilter] = useState('');
  const [creating, setCreating] = useState(false);
  const [dialog, setDialog] = useState<Dialog>();
  const all = buckets.data?.buckets ?? [];
  const shown = all.filter(({ name }) => name.includes(filter.trim().toLowerCase()));
  const create = (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setCreating(true)}>
      Create bucket
    </Button>
  );
  return (
    <Stack gap="md">
      <Group justify="space-between" mih={36}>
        <Group gap="xs" align="baseline">
          <Title order={1}>Buckets</Title>
          {all.length > 0 && (
            <Text size="sm" c="dimmed">
              {all.length}
            </Text>
          )}
        </Group>
        {all.length > 0 && (
          <Group gap="xs">
            <TextInput
              aria-label="Filter buckets"
              placeholder="Filter"
              leftSection={<IconSearch size={15} />}
              value={filter}
              onChange={(event) => setFilter(event.currentTarget.value)}
              w={200}
            />
            {create}
          </Group>
        )}
      </Group>
      {buckets.isPending && <LoadingRows />}
      {buckets.isError && <Failure what="The buckets cannot be shown" error={buckets.error} retry={buckets.refetch} />}
      {buckets.isSuccess && all.length === 0 && (
        <div className="rows">
          <Empty icon={<IconPackages size={34} stroke={1.3} />} title="No buckets yet">
            <Text size="sm" mb="md">
              A bucket holds objects under names of their own. Create the first one here, or with any S3 client. Buckets
              that your policies hide from you are not shown.
            </Text>
            {create}
          </Empty>
        </div>
      )}
      {shown.length > 0 && <BucketTable buckets={shown} open={setDialog} />}
      {shown.length > 0 && buckets.data?.counted !== undefined && (
        <Text size="sm" c="dimmed" className="wide-only">
          Objects and sizes as of{' '}
          <time dateTime={buckets.data.counted} title={formatExactTime(buckets.data.counted)}>
            {formatTime(buckets.data.counted)}
          </time>
        </Text>
      )}
      {all.length > 0 && shown.length === 0 && (
        <Text size="sm" c="dimmed">
          No bucket has “{filter}” in its name.
        </Text>
      )}
      <CreateBucketDialog opened={creating} onClose={() => setCreating(false)} />
      {dialog?.kind === 'delete' && (
        <DeleteBucketDialog bucket={dialog.bucket.name} onClose={() => setDialog(undefined)} />
      )}
      {dialog?.kind === 'encryption' && (
        <EncryptionDialog bucket={dialog.bucket} onClose={() => setDialog(undefined)} />
      )}
    </Stack>
  );
}

interface BucketTableProps {
  readonly buckets: readonly BucketSummary[];
  readonly open: (dialog: Dialog) => void;
}

function BucketTable({ buckets, open }: BucketTableProps) {
  return (
    <div className="rows">
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Name</Table.Th>
            <Table.Th w={110} ta="right" className="wide-only">
              Objects
            </Table.Th>
            <Table.Th w={110} ta="right" className="wide-only">
              Size
            </Table.Th>
            <Table.Th w={240}>Default encryption</Table.Th>
            <Table.Th w={190} className="wide-only">
              Created
            </Table.Th>
            <Table.Th w={48} aria-label="Actions" />
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {buckets.map((bucket) => (
            <Table.Tr key={bucket.name}>
              <Table.Td>
                <Link className="row-name" to={`/buckets/${encodeURIComponent(bucket.name)}`}>
                  <IconPackage size={18} stroke={1.5} className="row-icon" data-kind="folder" aria-hidden />
                  <span>{bucket.name}</span>
                </Link>
              </Table.Td>
              <Table.Td ta="right" className="wide-only">
                {bucket.usage?.objects.toLocaleString() ?? '–'}
              </Table.Td>
              <Table.Td ta="right" className="wide-only">
                {bucket.usage === undefined ? '–' : formatBytes(bucket.usage.bytes)}
              </Table.Td>
              <Table.Td>
                <EncryptionBadge encryption={bucket.encryption} />
              </Table.Td>
              <Table.Td className="wide-only">
                <Text
                  size="sm"
                  c="dimmed"
                  component="time"
                  dateTime={bucket.created}
                  title={formatExactTime(bucket.created)}
                >
                  {formatTime(bucket.created)}
                </Text>
              </Table.Td>
              <Table.Td>
                <Menu position="bottom-end">
                  <Menu.Target>
                    <ActionIcon className="row-actions" size="sm" aria-label={`Actions for ${bucket.name}`}>
                      <IconDots size={17} />
                    </ActionIcon>
                  </Menu.Target>
                  <Menu.Dropdown>
                    <Menu.Item
                      leftSection={<IconLock size={15} />}
                      onClick={() => open({ kind: 'encryption', bucket })}
                    >
                      Default encryption…
                    </Menu.Item>
                    <Menu.Item
                      color="red"
                      leftSection={<IconTrash size={15} />}
                      onClick={() => open({ kind: 'delete', bucket })}
                    >
                      Delete bucket…
                    </Menu.Item>
                  </Menu.Dropdown>
                </Menu>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}

function LoadingRows() {
  return (
    <Stack gap={10} aria-label="Loading" role="status">
      {['60%', '45%', '52%'].map((width) => (
        <Skeleton key={width} h={20} w={width} />
      ))}
    </Stack>
  );
}
