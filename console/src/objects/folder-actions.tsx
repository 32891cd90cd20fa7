import { Button, Group, Text } from '@mantine/core';
import { IconArrowBackUp, IconCopy, IconDownload, IconFolderSymlink, IconTrash, IconX } from '@tabler/icons-react';
import { useCallback, type ReactNode } from 'react';
import { deleteVersion, restoreVersion } from '../api/versions.ts';
import { objectsChanged } from '../api/changes.ts';
import { downloadArchive } from '../api/objects.ts';
import { useEntryRights, type FolderRights } from '../api/rights.ts';
import { useApiMutation } from '../api/queries.ts';
import { notifyDone, notifyFailure } from '../components/feedback.tsx';
import { RemoveDialog } from '../components/form-dialog.tsx';
import type { Selection } from '../jobs/selection.ts';
import { DeleteDialog } from './delete-dialog.tsx';
import { RewindDialog } from './rewind/rewind-dialog.tsx';
import { MoveDialog } from './move-dialog.tsx';
import type { RowAction } from './row-menu.tsx';
import { sizeOf, type Row } from './rows/rows.ts';
import { ShareDialog } from './share-dialog.tsx';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';
import { useDraft } from '../components/use-draft.ts';

interface MarkedActionsProps {
  readonly bucket: string;
  readonly prefix: string;
  readonly rows: readonly Row[];
  readonly rights: FolderRights;
  /** The folder is shown as it was at a moment. */
  readonly past: boolean;
  readonly onAction: (action: RowAction, rows: readonly Row[]) => void;
  readonly onClear: () => void;
}

/** The actions on all marked rows. */
export function MarkedActions({ bucket, rows, rights, past, onAction, onClear }: MarkedActionsProps) {
  const button = { size: 'compact-sm', variant: 'default' } as const;
  const keys = rows.map(({ key }) => key);
  const { known, may } = useEntryRights(bucket, keys, rights);
  const reads = !past && may('s3:GetObject');
  const deletes = !past && may('s3:DeleteObject');
  return (
    <Group gap="xs" role="toolbar" aria-label={t.objects.markedRows} aria-busy={!known}>
      <Text size="sm" fw={550}>
        {say(t.objects.marked, { rows: rows.length })}
      </Text>
      {past && may('s3:GetObjectVersion') && may('s3:PutObject') && (
        <Button {...button} leftSection={<IconArrowBackUp size={14} />} onClick={() => onAction('rewind', rows)}>
          {t.objects.restoreAsTheyWere}
        </Button>
      )}
      {reads && (
        <Button {...button} leftSection={<IconDownload size={14} />} onClick={() => onAction('archive', rows)}>
          {t.objects.downloadAsZip}
        </Button>
      )}
      {reads && deletes && rights.writesSomewhere && (
        <Button {...button} leftSection={<IconFolderSymlink size={14} />} onClick={() => onAction('move', rows)}>
          {t.objects.move}
        </Button>
      )}
      {reads && rights.writesSomewhere && (
        <Button {...button} leftSection={<IconCopy size={14} />} onClick={() => onAction('copy', rows)}>
          {t.objects.copy}
        </Button>
      )}
      {deletes && (
        <Button
          {...button}
          c="var(--coffer-danger)"
          leftSection={<IconTrash size={14} />}
          onClick={() => onAction('delete', rows)}
        >
          {t.labels.delete}
        </Button>
      )}
      <Button {...button} variant="subtle" color="gray" leftSection={<IconX size={14} />} onClick={onClear}>
        {t.objects.clear}
      </Button>
    </Group>
  );
}

function selectionOf(rows: readonly Row[]): Selection {
  return {
    objects: rows.filter(({ kind }) => kind === 'object').map((row) => ({ key: row.key, size: sizeOf(row) })),
    folders: rows.filter(({ kind }) => kind === 'folder').map(({ key }) => key),
  };
}

interface RowActionsOptions {
  readonly bucket: string;
  readonly prefix: string;
  /** The moment at which the folder is shown; undefined for now. */
  readonly at?: Date | undefined;
  /** Called when something was done, so that no row stays marked. */
  readonly onDone: () => void;
}

interface Asked {
  readonly action: RowAction;
  readonly rows: readonly Row[];
}

/** The forms of a few rows survive a reload. A question whether to delete does not: nothing was typed. */
function keepForm(asked: Asked | undefined): Asked | undefined {
  return asked !== undefined && asked.rows.length <= 100 && forms.has(asked.action) ? asked : undefined;
}

const forms: ReadonlySet<RowAction> = new Set(['share', 'rename', 'move', 'copy']);

/** Does what a menu or a toolbar asks for, with the dialogs that it needs. */
export function useRowActions({ bucket, prefix, at, onDone }: RowActionsOptions): {
  readonly perform: (action: RowAction, rows: readonly Row[]) => void;
  readonly dialogs: ReactNode;
} {
  const [asked, setAsked] = useDraft<Asked | undefined>('action', undefined, keepForm);
  const close = () => setAsked(undefined);

  const perform = useCallback(
    (action: RowAction, rows: readonly Row[]): void => {
      const [first] = rows;
      if (action === 'archive') {
        const { objects, folders } = selectionOf(rows);
        const keys = objects.map(({ key }) => key);
        downloadArchive(bucket, { prefix, keys, folders }).catch((error: Error) => {
          notifyFailure(t.objects.theArchiveCannotBeMade, error);
        });
      } else if (action === 'restore' && first?.kind === 'version') {
        restoreVersion(bucket, first.version)
          .then(() => notifyDone(say(t.objects.isAsItWasThenTheVersions, { key: first.key })))
          .catch((error: Error) => notifyFailure(t.objects.theVersionCannotBeRestored, error))
          .finally(() => objectsChanged(bucket));
      } else setAsked({ action, rows });
    },
    [bucket, prefix, setAsked],
  );

  const dialogs = asked && <AskedDialog {...{ bucket, prefix, at, onDone }} asked={asked} onClose={close} />;
  return { perform, dialogs };
}

interface AskedDialogProps extends RowActionsOptions {
  readonly asked: Asked;
  readonly onClose: () => void;
}

function AskedDialog({ bucket, prefix, at, asked: { action, rows }, onDone, onClose }: AskedDialogProps) {
  const selection = selectionOf(rows);
  const [first] = rows;
  switch (action) {
    case 'delete': {
      const deletion = { keys: selection.objects.map(({ key }) => key), folders: selection.folders };
      return <DeleteDialog {...{ bucket, deletion, onClose }} onDeleted={onDone} />;
    }
    case 'delete-version':
      return first?.kind === 'version' ? <DeleteVersionDialog {...{ bucket, onClose }} row={first} /> : null;
    case 'share':
      return first === undefined ? null : <ShareDialog bucket={bucket} objectKey={first.key} onClose={onClose} />;
    case 'rename':
    case 'move':
    case 'copy':
      return <MoveDialog {...{ bucket, prefix, selection, onDone, onClose }} kind={action} />;
    case 'rewind':
      return at === undefined ? null : <RewindDialog {...{ bucket, rows, at, onDone, onClose }} />;
    case 'archive':
    case 'restore':
      return null;
    default:
      return action satisfies never;
  }
}

interface DeleteVersionDialogProps {
  readonly bucket: string;
  readonly row: Extract<Row, { readonly kind: 'version' }>;
  readonly onClose: () => void;
}

export function DeleteVersionDialog({ bucket, row, onClose }: DeleteVersionDialogProps) {
  const { version } = row;
  const isMarker = version.kind === 'marker';
  const remove = useApiMutation(() => deleteVersion(bucket, version), []);
  return (
    <RemoveDialog
      title={isMarker ? t.objects.removeTheDeleteMarker : t.objects.deleteThisVersion}
      submit={isMarker ? t.objects.remove : t.objects.deleteVersion}
      remove={remove}
      what={undefined}
      done={
        isMarker
          ? say(t.objects.theDeleteMarkerOfIsRemoved, { key: row.key })
          : say(t.objects.theVersionOfIsDeleted, { key: row.key })
      }
      onDone={() => {
        objectsChanged(bucket);
        onClose();
      }}
      onClose={onClose}
    >
      {isMarker ? t.objects.theNewestVersionBeforeItIsCurrent : t.objects.thisVersionIsRemovedForGoodThe}
    </RemoveDialog>
  );
}
