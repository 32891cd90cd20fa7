import { ActionIcon, Checkbox, Group, Text, Tooltip } from '@mantine/core';
import { IconDownload, IconFile, IconFolder, IconLock, IconTrash } from '@tabler/icons-react';
import { Link } from 'react-router';
import type { ObjectRow } from '../../../contract/answers.ts';
import { download, type Deletion } from '../api/objects.ts';
import { notifyFailure } from '../components/feedback.tsx';
import { type Column, RowTable, TimeText } from '../components/row-table.tsx';
import { formatBytes } from '../text/format.ts';
import { folderUrl, nameIn, objectUrl } from '../components/urls.ts';

interface ObjectTableProps {
  readonly bucket: string;
  readonly prefix: string;
  readonly folders: readonly string[];
  readonly objects: readonly ObjectRow[];
  readonly selected: string | null;
  /** Keys, and prefixes that end in `/`. */
  readonly marked: ReadonlySet<string>;
  readonly onMark: (marked: ReadonlySet<string>) => void;
  readonly onDelete: (deletion: Deletion) => void;
}

type Row = { readonly kind: 'folder'; readonly key: string } | { readonly kind: 'object'; readonly object: ObjectRow };

const keyOfRow = (row: Row) => (row.kind === 'folder' ? row.key : row.object.key);

export function ObjectTable({
  bucket,
  prefix,
  folders,
  objects,
  selected,
  marked,
  onMark,
  onDelete,
}: ObjectTableProps) {
  const rows: readonly Row[] = [
    ...folders.map((key) => ({ kind: 'folder' as const, key })),
    ...objects.map((object) => ({ kind: 'object' as const, object })),
  ];
  const keys = rows.map(keyOfRow);
  const some = keys.some((key) => marked.has(key));
  const every = keys.every((key) => marked.has(key));

  function toggle(key: string): void {
    const next = new Set(marked);
    if (!next.delete(key)) next.add(key);
    onMark(next);
  }

  const columns: readonly Column<Row>[] = [
    {
      head: (
        <Checkbox
          size="xs"
          aria-label="Mark all rows"
          checked={every}
          indeterminate={some && !every}
          onChange={() => onMark(every ? new Set() : new Set(keys))}
        />
      ),
      width: 36,
      cell: (row) => {
        const key = keyOfRow(row);
        const label = `Mark ${nameIn(prefix, key)}`;
        return <Checkbox size="xs" aria-label={label} checked={marked.has(key)} onChange={() => toggle(key)} />;
      },
    },
    { head: 'Name', cell: (row) => <NameCell bucket={bucket} prefix={prefix} row={row} /> },
    {
      head: 'Size',
      width: 100,
      align: 'right',
      cell: (row) =>
        row.kind === 'object' && (
          <Text size="sm" title={`${row.object.size} bytes`} style={{ whiteSpace: 'nowrap' }}>
            {formatBytes(row.object.size)}
          </Text>
        ),
    },
    {
      head: 'Modified',
      width: 190,
      wideOnly: true,
      cell: (row) => row.kind === 'object' && <TimeText at={row.object.lastModified} />,
    },
    {
      head: undefined,
      width: 92,
      cell: (row) => {
        const key = keyOfRow(row);
        const name = nameIn(prefix, key);
        const deletion = row.kind === 'folder' ? { keys: [], folders: [key] } : { keys: [key], folders: [] };
        return (
          <Group gap={2} justify="flex-end" wrap="nowrap" className="row-actions">
            {row.kind === 'object' && <DownloadButton bucket={bucket} objectKey={key} name={name} />}
            <DeleteButton label={name} onClick={() => onDelete(deletion)} />
          </Group>
        );
      },
    },
  ];
  return (
    <RowTable
      rows={rows}
      rowKey={keyOfRow}
      columns={columns}
      isOpen={(row) => row.kind === 'object' && row.object.key === selected}
    />
  );
}

interface NameCellProps {
  readonly bucket: string;
  readonly prefix: string;
  readonly row: Row;
}

function NameCell({ bucket, prefix, row }: NameCellProps) {
  if (row.kind === 'folder') {
    return (
      <Link className="row-name" to={folderUrl(bucket, row.key)}>
        <IconFolder size={18} stroke={1.5} className="row-icon" data-kind="folder" aria-hidden />
        <span>{nameIn(prefix, row.key)}</span>
      </Link>
    );
  }
  const { key, encrypted } = row.object;
  return (
    <Link className="row-name" to={objectUrl(bucket, prefix, key)}>
      <IconFile size={18} stroke={1.4} className="row-icon" aria-hidden />
      <span>{nameIn(prefix, key)}</span>
      {encrypted && (
        <Tooltip label="Encrypted at rest">
          <IconLock size={13} className="row-icon" aria-label="Encrypted at rest" role="img" />
        </Tooltip>
      )}
    </Link>
  );
}

interface DownloadButtonProps {
  readonly bucket: string;
  readonly objectKey: string;
  readonly name: string;
}

function DownloadButton({ bucket, objectKey, name }: DownloadButtonProps) {
  function start(): void {
    download(bucket, objectKey).catch((error: Error) => {
      notifyFailure(`${name} cannot be downloaded`, error);
    });
  }
  return (
    <Tooltip label="Download">
      <ActionIcon size="sm" aria-label={`Download ${name}`} onClick={start}>
        <IconDownload size={16} />
      </ActionIcon>
    </Tooltip>
  );
}

function DeleteButton({ label, onClick }: { readonly label: string; readonly onClick: () => void }) {
  return (
    <Tooltip label="Delete…">
      <ActionIcon size="sm" aria-label={`Delete ${label}`} onClick={onClick}>
        <IconTrash size={16} />
      </ActionIcon>
    </Tooltip>
  );
}
