import { ActionIcon, Checkbox, Group, Table, Text, Tooltip } from '@mantine/core';
import { IconDownload, IconFile, IconFolder, IconLock, IconTrash } from '@tabler/icons-react';
import { Link } from 'react-router';
import type { ObjectRow } from '../../../contract/answers.ts';
import { download, type Deletion } from '../api/objects.ts';
import { notifyFailure } from '../components/feedback.tsx';
import { TimeText } from '../components/table-cells.tsx';
import { formatBytes } from '../text/format.ts';
import { folderUrl, nameIn, objectUrl } from '../components/urls.ts';

interface ObjectTableProps {
  readonly bucket: string;
  readonly prefix: string;
  readonly folders: readonly string[];
  readonly objects: readonly ObjectRow[];
  readonly selected: string | null;
  /** Keys, and prefixes that end in a slash. */
  readonly marked: ReadonlySet<string>;
  readonly onMark: (marked: ReadonlySet<string>) => void;
  readonly onDelete: (deletion: Deletion) => void;
}

export function ObjectTable(props: ObjectTableProps) {
  const { folders, objects, marked, onMark } = props;
  const all = [...folders, ...objects.map(({ key }) => key)];
  const some = all.some((name) => marked.has(name));
  const every = all.every((name) => marked.has(name));
  return (
    <div className="rows">
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={36}>
              <Checkbox
                size="xs"
                aria-label="Mark all rows"
                checked={every}
                indeterminate={some && !every}
                onChange={() => onMark(every ? new Set() : new Set(all))}
              />
            </Table.Th>
            <Table.Th>Name</Table.Th>
            <Table.Th w={100} ta="right">
              Size
            </Table.Th>
            <Table.Th w={190} className="wide-only">
              Modified
            </Table.Th>
            <Table.Th w={92} aria-label="Actions" />
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {folders.map((folder) => (
            <FolderRow key={folder} {...props} folder={folder} />
          ))}
          {objects.map((object) => (
            <FileRow key={object.key} {...props} object={object} />
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}

function Mark({ marked, onMark, name, label }: ObjectTableProps & { readonly name: string; readonly label: string }) {
  function toggle(): void {
    const next = new Set(marked);
    if (!next.delete(name)) next.add(name);
    onMark(next);
  }
  return <Checkbox size="xs" aria-label={`Mark ${label}`} checked={marked.has(name)} onChange={toggle} />;
}

function FolderRow(props: ObjectTableProps & { readonly folder: string }) {
  const { bucket, prefix, folder, onDelete } = props;
  const name = nameIn(prefix, folder);
  return (
    <Table.Tr>
      <Table.Td>
        <Mark {...props} name={folder} label={name} />
      </Table.Td>
      <Table.Td>
        <Link className="row-name" to={folderUrl(bucket, folder)}>
          <IconFolder size={18} stroke={1.5} className="row-icon" data-kind="folder" aria-hidden />
          <span>{name}</span>
        </Link>
      </Table.Td>
      <Table.Td />
      <Table.Td className="wide-only" />
      <Table.Td>
        <Group gap={2} justify="flex-end" wrap="nowrap" className="row-actions">
          <DeleteButton label={name} onClick={() => onDelete({ keys: [], folders: [folder] })} />
        </Group>
      </Table.Td>
    </Table.Tr>
  );
}

function FileRow(props: ObjectTableProps & { readonly object: ObjectRow }) {
  const { bucket, prefix, object, selected, onDelete } = props;
  const name = nameIn(prefix, object.key);
  return (
    <Table.Tr data-open={selected === object.key || undefined}>
      <Table.Td>
        <Mark {...props} name={object.key} label={name} />
      </Table.Td>
      <Table.Td>
        <Link className="row-name" to={objectUrl(bucket, prefix, object.key)}>
          <IconFile size={18} stroke={1.4} className="row-icon" aria-hidden />
          <span>{name}</span>
          {object.encrypted && (
            <Tooltip label="Encrypted at rest">
              <IconLock size={13} className="row-icon" aria-label="Encrypted at rest" role="img" />
            </Tooltip>
          )}
        </Link>
      </Table.Td>
      <Table.Td ta="right">
        <Text size="sm" title={`${object.size} bytes`} style={{ whiteSpace: 'nowrap' }}>
          {formatBytes(object.size)}
        </Text>
      </Table.Td>
      <Table.Td className="wide-only">
        <TimeText at={object.lastModified} />
      </Table.Td>
      <Table.Td>
        <Group gap={2} justify="flex-end" wrap="nowrap" className="row-actions">
          <Tooltip label="Download">
            <ActionIcon
              size="sm"
              aria-label={`Download ${name}`}
              onClick={() => {
                download(bucket, object.key).catch((error: Error) => {
                  notifyFailure(`${name} cannot be downloaded`, error);
                });
              }}
            >
              <IconDownload size={16} />
            </ActionIcon>
          </Tooltip>
          <DeleteButton label={name} onClick={() => onDelete({ keys: [object.key], folders: [] })} />
        </Group>
      </Table.Td>
    </Table.Tr>
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
