import { ActionIcon, Menu, Text, Tooltip } from '@mantine/core';
import {
  IconArrowBackUp,
  IconCopy,
  IconDots,
  IconDownload,
  IconFolderSymlink,
  IconPencil,
  IconShare,
  IconTrash,
} from '@tabler/icons-react';
import { useState } from 'react';
import { download } from '../api/objects.ts';
import { useObjectRights, type FolderRights } from '../api/rights.ts';
import { notifyFailure } from '../components/feedback.tsx';
import { nameIn } from '../components/urls.ts';
import type { Row } from './rows/rows.ts';

export type RowAction = 'rename' | 'move' | 'copy' | 'delete' | 'share' | 'restore' | 'delete-version' | 'archive';

interface RowActionsProps {
  readonly bucket: string;
  readonly prefix: string;
  readonly row: Row;
  readonly rights: FolderRights;
  readonly onAction: (action: RowAction, row: Row) => void;
}

/** The buttons of a row: those that the user may press on this key. */
export function RowActions({ bucket, prefix, row, rights, onAction }: RowActionsProps) {
  const [asked, setAsked] = useState(false);
  const name = nameIn(prefix, row.key);
  const marker = row.kind === 'version' && row.version.kind === 'marker';
  return (
    <>
      {row.kind !== 'folder' &&
        !marker &&
        rights.every(row.kind === 'version' ? 's3:GetObjectVersion' : 's3:GetObject') && (
          <DownloadButton bucket={bucket} row={row} name={name} />
        )}
      <Menu position="bottom-end" onOpen={() => setAsked(true)}>
        <Menu.Target>
          <ActionIcon size="sm" aria-label={`Actions for ${name}`}>
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Items {...{ bucket, row, rights, asked }} onAction={(action) => onAction(action, row)} />
        </Menu.Dropdown>
      </Menu>
    </>
  );
}

interface ItemsProps extends Pick<RowActionsProps, 'bucket' | 'row' | 'rights'> {
  readonly asked: boolean;
  readonly onAction: (action: RowAction) => void;
}

/** Asks for the rights on the key when the menu opens: a folder of a million rows asks for none of them before. */
function Items({ bucket, row, rights, asked, onAction }: ItemsProps) {
  const own = useObjectRights(bucket, row.key, asked && row.kind !== 'folder');
  const may = row.kind === 'folder' ? rights.some : own.may;
  const known = row.kind === 'folder' ? rights.known : own.known;
  const writes = rights.some('s3:PutObject');
  const items: readonly (readonly [RowAction, string, typeof IconCopy, boolean])[] =
    row.kind === 'version'
      ? [
          [
            'restore',
            'Restore this version',
            IconArrowBackUp,
            row.version.kind === 'version' &&
              !row.version.isLatest &&
              may('s3:GetObjectVersion') &&
              may('s3:PutObject'),
          ],
          [
            'delete-version',
            row.version.kind === 'marker' ? 'Remove the delete marker…' : 'Delete this version…',
            IconTrash,
            may('s3:DeleteObjectVersion'),
          ],
        ]
      : [
          ['archive', 'Download as zip', IconDownload, row.kind === 'folder' && may('s3:GetObject')],
          ['share', 'Share…', IconShare, row.kind === 'object' && may('s3:GetObject')],
          ['rename', 'Rename…', IconPencil, may('s3:GetObject') && may('s3:DeleteObject') && writes],
          ['move', 'Move…', IconFolderSymlink, may('s3:GetObject') && may('s3:DeleteObject') && writes],
          ['copy', 'Copy…', IconCopy, may('s3:GetObject')],
          ['delete', 'Delete…', IconTrash, may('s3:DeleteObject')],
        ];
  const shown = items.filter(([, , , allowed]) => allowed);
  if (!known) return <Menu.Label>Asking what you may do…</Menu.Label>;
  if (shown.length === 0) {
    return (
      <Menu.Label>
        <Text size="xs" maw={220}>
          Your policies allow nothing more here.
        </Text>
      </Menu.Label>
    );
  }
  return shown.map(([action, label, Icon]) => (
    <Menu.Item
      key={action}
      color={action.startsWith('delete') ? 'red' : undefined}
      leftSection={<Icon size={15} />}
      onClick={() => onAction(action)}
    >
      {label}
    </Menu.Item>
  ));
}

interface DownloadButtonProps {
  readonly bucket: string;
  readonly row: Row;
  readonly name: string;
}

function DownloadButton({ bucket, row, name }: DownloadButtonProps) {
  const versionId = row.kind === 'version' ? row.version.versionId : undefined;
  return (
    <Tooltip label="Download">
      <ActionIcon
        size="sm"
        aria-label={`Download ${name}`}
        onClick={() => {
          download(bucket, row.key, versionId).catch((error: Error) => {
            notifyFailure(`${name} cannot be downloaded`, error);
          });
        }}
      >
        <IconDownload size={16} />
      </ActionIcon>
    </Tooltip>
  );
}
