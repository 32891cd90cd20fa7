import { ActionIcon, Menu } from '@mantine/core';
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
import { useEffect, useRef, useState, type ReactNode } from 'react';
import type { ObjectAction } from '../../../protocol/console/rights.ts';
import { download } from '../api/objects.ts';
import { useBucketRights, useObjectRights, type FolderRights } from '../api/rights.ts';
import { notifyFailure } from '../components/feedback.tsx';
import { MenuNote } from '../components/menu-note.tsx';
import { nameIn } from '../components/urls.ts';
import { RowButton } from './rows/row-controls.tsx';
import type { Row } from './rows/rows.ts';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

export type RowAction =
  'rename' | 'move' | 'copy' | 'delete' | 'share' | 'restore' | 'delete-version' | 'archive' | 'rewind';

interface RowActionsProps {
  readonly bucket: string;
  readonly prefix: string;
  readonly row: Row;
  readonly rights: FolderRights;
  /** The folder is shown as it was at a moment. */
  readonly past?: boolean;
  readonly onAction: (action: RowAction, row: Row) => void;
}

/** The buttons of a row: those that the user may press on this key. */
export function RowActions({ bucket, prefix, row, rights, past = false, onAction }: RowActionsProps) {
  const name = nameIn(prefix, row.key);
  const marker = row.kind === 'version' && row.version.kind === 'marker';
  return (
    <>
      {row.kind !== 'folder' &&
        !marker &&
        rights.every(row.kind === 'version' ? 's3:GetObjectVersion' : 's3:GetObject') && (
          <DownloadButton bucket={bucket} row={row} name={name} />
        )}
      <RowMenu label={say(t.labels.actionsFor, { name })}>
        <Items {...{ bucket, row, rights, past }} onAction={(action) => onAction(action, row)} />
      </RowMenu>
    </>
  );
}

interface RowMenuProps {
  readonly label: string;
  readonly children: ReactNode;
}

/** The menu of a row. It is rendered at the first click: a folder shows fifty rows, of which few menus are opened. */
function RowMenu({ label, children }: RowMenuProps) {
  const [wanted, setWanted] = useState(false);
  if (wanted) return <OpenMenu label={label}>{children}</OpenMenu>;
  return (
    <RowButton aria-label={label} aria-haspopup="menu" aria-expanded={false} onClick={() => setWanted(true)}>
      <IconDots size={16} />
    </RowButton>
  );
}

function OpenMenu({ label, children }: RowMenuProps) {
  const button = useRef<HTMLButtonElement>(null);
  const [opened, setOpened] = useState(false);
  useEffect(() => {
    // The focus was on the button that this one replaces. It comes back here when the menu closes.
    button.current?.focus();
    setOpened(true);
  }, []);
  return (
    <Menu position="bottom-end" opened={opened} onChange={setOpened}>
      <Menu.Target>
        <ActionIcon ref={button} size="sm" aria-label={label}>
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>{children}</Menu.Dropdown>
    </Menu>
  );
}

interface ItemsProps extends Pick<RowActionsProps, 'bucket' | 'row' | 'rights' | 'past'> {
  readonly onAction: (action: RowAction) => void;
}

/** Asks for the rights on the key when the menu opens: a folder of a million rows asks for none of them before. */
function Items({ bucket, row, rights, past = false, onAction }: ItemsProps) {
  const own = useObjectRights(bucket, row.key, row.kind !== 'folder');
  const below = useBucketRights(bucket, row.key, row.kind === 'folder');
  const may = row.kind === 'folder' ? below.some : own.may;
  const known = row.kind === 'folder' ? below.known : own.known;
  const items = past && row.kind === 'folder' ? pastFolderItems(may) : itemsOf(row, may, rights);
  const shown = items.filter(([, , , allowed]) => allowed);
  if (!known || shown.length === 0) return <MenuNote known={known} />;
  return shown.map(([action, label, Icon]) => (
    <Menu.Item
      key={action}
      color={action.startsWith('delete') ? 'var(--coffer-danger)' : undefined}
      leftSection={<Icon size={15} />}
      onClick={() => onAction(action)}
    >
      {label}
    </Menu.Item>
  ));
}

type Item = readonly [action: RowAction, label: string, icon: typeof IconCopy, allowed: boolean];

type May = (action: ObjectAction) => boolean;

function pastFolderItems(may: May): readonly Item[] {
  return [
    ['rewind', t.objects.restoreAsItWasDialog, IconArrowBackUp, may('s3:GetObjectVersion') && may('s3:PutObject')],
  ];
}

function itemsOf(row: Row, may: May, rights: FolderRights): readonly Item[] {
  if (row.kind === 'version') {
    const { kind, isLatest } = row.version;
    const restores = kind === 'version' && !isLatest && may('s3:GetObjectVersion') && may('s3:PutObject');
    const removal = kind === 'marker' ? t.objects.removeTheDeleteMarkerDialog : t.objects.deleteThisVersionDialog;
    return [
      ['restore', t.objects.restoreThisVersion, IconArrowBackUp, restores],
      ['delete-version', removal, IconTrash, may('s3:DeleteObjectVersion')],
    ];
  }
  const moves = may('s3:GetObject') && may('s3:DeleteObject');
  return [
    ['archive', t.objects.downloadAsZip, IconDownload, row.kind === 'folder' && may('s3:GetObject')],
    ['share', t.objects.share, IconShare, row.kind === 'object' && may('s3:GetObject')],
    ['rename', t.objects.renameDialog, IconPencil, moves && rights.here('s3:PutObject')],
    ['move', t.objects.move, IconFolderSymlink, moves && rights.writesSomewhere],
    ['copy', t.objects.copy, IconCopy, may('s3:GetObject') && rights.writesSomewhere],
    ['delete', t.labels.delete, IconTrash, may('s3:DeleteObject')],
  ];
}

interface DownloadButtonProps {
  readonly bucket: string;
  readonly row: Row;
  readonly name: string;
}

function DownloadButton({ bucket, row, name }: DownloadButtonProps) {
  const versionId = row.kind === 'version' ? row.version.versionId : undefined;
  return (
    <RowButton
      title={t.labels.download}
      aria-label={say(t.objects.download, { name })}
      onClick={() => {
        download(bucket, row.key, versionId).catch((error: Error) => {
          notifyFailure(say(t.objects.cannotBeDownloaded, { name }), error);
        });
      }}
    >
      <IconDownload size={16} />
    </RowButton>
  );
}
