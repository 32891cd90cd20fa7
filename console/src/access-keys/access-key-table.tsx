import { ActionIcon, Badge, Group, Menu, Text, Tooltip } from '@mantine/core';
import {
  IconDots,
  IconInfoCircle,
  IconKey,
  IconPencil,
  IconPlayerPause,
  IconPlayerPlay,
  IconTrash,
} from '@tabler/icons-react';
import type { AccessKeyRow } from '../../../protocol/console/identity-answers.ts';
import { useChangeAccessKey, useDeleteAccessKey } from '../api/access-keys.ts';
import { useRights } from '../api/session.ts';
import { notifyDone, notifyFailure } from '../components/feedback.tsx';
import { type Column, RowTable, StatusBadge, TimeText } from '../components/row-table.tsx';
import { AccessKeyDetails } from './access-key-details.tsx';
import { EditAccessKeyDialog } from './access-key-form.tsx';
import { RemoveDialog } from '../components/form-dialog.tsx';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';
import { useDraft } from '../components/use-draft.ts';

type Dialog = { readonly kind: 'details' | 'edit' | 'delete'; readonly key: AccessKeyRow };

interface AccessKeyTableProps {
  readonly keys: readonly AccessKeyRow[];
  readonly showOwner: boolean;
}

export function AccessKeyTable({ keys, showOwner }: AccessKeyTableProps) {
  const [dialog, setDialog] = useDraft<Dialog | undefined>('key.dialog', undefined);
  const close = () => setDialog(undefined);
  const columns: readonly Column<AccessKeyRow>[] = [
    {
      head: t.labels.accessKey,
      cell: (key) => (
        <>
          <button type="button" className="row-name" onClick={() => setDialog({ kind: 'details', key })}>
            <IconKey size={18} stroke={1.5} className="row-icon" aria-hidden />
            <span className="mono access-key">{key.accessKey}</span>
          </button>
          {showOwner && (
            <Text size="xs" c="dimmed" pl={28} className="narrow-only">
              {ownerOf(key)}
            </Text>
          )}
          {(key.name ?? key.description) !== undefined && (
            <Text size="xs" c="dimmed" pl={28}>
              {[key.name, key.description].filter((text) => text !== undefined).join(' · ')}
            </Text>
          )}
        </>
      ),
    },
    ...(showOwner ? [ownerColumn] : []),
    { head: t.accessKeys.expires, width: 190, wideOnly: true, cell: ({ expires }) => <Expires expires={expires} /> },
    { head: t.labels.status, width: 180, cell: (key) => <Badges accessKey={key} /> },
    { head: undefined, width: 48, cell: (key) => <KeyMenu accessKey={key} open={setDialog} /> },
  ];
  return (
    <>
      <RowTable rows={keys} rowKey={({ accessKey }) => accessKey} columns={columns} />
      {dialog?.kind === 'details' && <AccessKeyDetails accessKey={dialog.key.accessKey} onClose={close} />}
      {dialog?.kind === 'edit' && <EditAccessKeyDialog accessKey={dialog.key.accessKey} onClose={close} />}
      {dialog?.kind === 'delete' && <DeleteAccessKeyDialog accessKey={dialog.key} onClose={close} />}
    </>
  );
}

const ownerColumn: Column<AccessKeyRow> = {
  head: t.accessKeys.owner,
  wideOnly: true,
  cell: (key) => <Text size="sm">{ownerOf(key)}</Text>,
};

function ownerOf({ owner: { name, provider } }: AccessKeyRow): string {
  return provider === undefined ? name : `${name} (${provider})`;
}

function Expires({ expires }: { readonly expires: string | undefined }) {
  if (expires === undefined) {
    return (
      <Text size="sm" c="dimmed">
        {t.accessKeys.never}
      </Text>
    );
  }
  return <TimeText at={expires} />;
}

function Badges({ accessKey: key }: { readonly accessKey: AccessKeyRow }) {
  return (
    <Group gap={6}>
      <StatusBadge status={key.status} />
      {key.kind === 'temporary' && (
        <Tooltip label={t.accessKeys.issuedByASignInOrBy}>
          <Badge color="gray">{key.current ? t.accessKeys.thisSession : t.accessKeys.temporary}</Badge>
        </Tooltip>
      )}
      {key.narrowed && (
        <Tooltip label={t.accessKeys.aPolicyOfTheKeyRestrictsWhat}>
          <Badge color="gray">{t.accessKeys.narrowed}</Badge>
        </Tooltip>
      )}
    </Group>
  );
}

function KeyMenu({
  accessKey: key,
  open,
}: {
  readonly accessKey: AccessKeyRow;
  readonly open: (dialog: Dialog) => void;
}) {
  const { may, mayOwn } = useRights();
  const change = useChangeAccessKey();
  const next = key.status === 'enabled' ? 'disabled' : 'enabled';
  const mayUpdate = key.own ? mayOwn('admin:UpdateServiceAccount') : may('admin:UpdateServiceAccount');
  const mayRemove = key.own ? mayOwn('admin:RemoveServiceAccount') : may('admin:RemoveServiceAccount');

  function toggle(): void {
    change.mutate(
      { key: key.accessKey, change: { status: next } },
      {
        onSuccess: () =>
          notifyDone(
            next === 'enabled'
              ? say(t.accessKeys.isEnabled, { accessKey: key.accessKey })
              : say(t.accessKeys.isDisabled, { accessKey: key.accessKey }),
          ),
        onError: (error) =>
          notifyFailure(
            key.status === 'enabled'
              ? say(t.accessKeys.staysEnabled, { accessKey: key.accessKey })
              : say(t.accessKeys.staysDisabled, { accessKey: key.accessKey }),
            error,
          ),
      },
    );
  }

  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon
          className="row-actions"
          size="sm"
          aria-label={say(t.accessKeys.actionsFor, { accessKey: key.accessKey })}
        >
          <IconDots size={17} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconInfoCircle size={15} />} onClick={() => open({ kind: 'details', key })}>
          {t.accessKeys.details}
        </Menu.Item>
        {key.kind === 'service-account' && mayUpdate && (
          <>
            <Menu.Item leftSection={<IconPencil size={15} />} onClick={() => open({ kind: 'edit', key })}>
              {t.accessKeys.edit}
            </Menu.Item>
            <Menu.Item
              disabled={key.status === 'expired'}
              leftSection={next === 'disabled' ? <IconPlayerPause size={15} /> : <IconPlayerPlay size={15} />}
              onClick={toggle}
            >
              {next === 'disabled' ? t.labels.disable : t.labels.enable}
            </Menu.Item>
          </>
        )}
        {mayRemove && (
          <Menu.Item
            color="var(--coffer-danger)"
            leftSection={<IconTrash size={15} />}
            onClick={() => open({ kind: 'delete', key })}
          >
            {key.kind === 'temporary' ? t.accessKeys.end : t.labels.delete}
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}

interface DeleteAccessKeyDialogProps {
  readonly accessKey: AccessKeyRow;
  readonly onClose: () => void;
}

function DeleteAccessKeyDialog({ accessKey: key, onClose }: DeleteAccessKeyDialogProps) {
  const temporary = key.kind === 'temporary';
  return (
    <RemoveDialog
      title={
        temporary
          ? say(t.accessKeys.endTheTemporaryKey, { accessKey: key.accessKey })
          : say(t.accessKeys.deleteTheAccessKey, { accessKey: key.accessKey })
      }
      submit={temporary ? t.accessKeys.endIt : t.accessKeys.deleteAccessKey}
      remove={useDeleteAccessKey()}
      what={key.accessKey}
      done={say(t.accessKeys.isRefusedFromNowOn, { accessKey: key.accessKey })}
      onDone={onClose}
      onClose={onClose}
    >
      {key.current ? t.accessKeys.thisSessionUsesItYouAreSigned : t.accessKeys.programsThatUseItAreRefusedFrom}
    </RemoveDialog>
  );
}
