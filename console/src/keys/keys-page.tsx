import type { KeyUsage } from '../../../protocol/admin/keys.ts';
import { Badge, Button, Group, Menu, Stack, Text, ActionIcon } from '@mantine/core';
import { IconDots, IconInfoCircle, IconLock, IconPlugConnected, IconPlus, IconRefresh } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { admin } from '../api/admin.ts';
import { ResponseError } from '../../../protocol/response-error.ts';
import { useApiMutation } from '../api/queries.ts';
import { useServiceKeyRights } from '../api/rights.ts';
import { useRights } from '../api/session.ts';
import { DetailPage, Fact, Facts, Loaded, Section } from '../components/detail-page.tsx';
import { Empty, Failure, notifyDone, notifyFailure } from '../components/feedback.tsx';
import { MenuNote } from '../components/menu-note.tsx';
import { type Column, RowTable } from '../components/row-table.tsx';
import { KeyDetails } from './key-details.tsx';
import { CreateKeyDialog, ImportKeyDialog } from './key-dialogs.tsx';
import { RotateDialog, RotationProgress } from './rotation.tsx';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';
import { useDraft } from '../components/use-draft.ts';
import { isRefresh } from '../api/call.ts';

interface KeyServiceStatus {
  readonly name: string;
  readonly 'default-key-id': string;
  readonly endpoints: Readonly<Record<string, 'online' | 'offline'>>;
}

/** The key service and its keys. */
export function KeysPage() {
  const { may } = useRights();
  const keyRights = useServiceKeyRights([]);
  const [creating, setCreating] = useDraft('creating', false);
  const [importing, setImporting] = useState(false);
  const status = useQuery({
    queryKey: ['key-service'],
    queryFn: (query) => admin<KeyServiceStatus>('GET', 'kms/status', { refresh: isRefresh(query) }),
    refetchInterval: 15_000,
  });
  if (status.error instanceof ResponseError && status.error.code === 'KMSNotConfigured') {
    return (
      <DetailPage title={t.keys.keys}>
        <Empty icon={IconLock} title={t.keys.noKeyService}>
          {say(t.keys.objectsAreThenEncryptedByDefaultOr, { message: status.error.message })}
        </Empty>
      </DetailPage>
    );
  }
  // The server's own key is not one to which keys can be added.
  const several = status.data !== undefined && Object.keys(status.data.endpoints).length > 0;
  return (
    <DetailPage
      title={t.keys.keys}
      actions={
        several && (
          <>
            {keyRights.some('import') && (
              <Button variant="default" onClick={() => setImporting(true)}>
                {t.keys.importKey}
              </Button>
            )}
            {keyRights.some('create') && (
              <Button leftSection={<IconPlus size={16} />} onClick={() => setCreating(true)}>
                {t.keys.createKey}
              </Button>
            )}
          </>
        )
      }
    >
      <Loaded what={t.keys.theKeyServiceCannotBeShown} query={status}>
        {(found) => <Service status={found} />}
      </Loaded>
      {may('admin:KMSRotateKey') && <RotationProgress />}
      {may('admin:KMSListKeys') && status.isSuccess && (
        <KeyList defaultKey={status.data['default-key-id']} several={several} />
      )}
      {creating && <CreateKeyDialog onClose={() => setCreating(false)} />}
      {importing && <ImportKeyDialog onClose={() => setImporting(false)} />}
    </DetailPage>
  );
}

function Service({ status }: { readonly status: KeyServiceStatus }) {
  const endpoints = Object.entries(status.endpoints);
  return (
    <Section title={t.keys.keyService}>
      <Stack gap="sm">
        <Facts>
          <Fact name={t.labels.kind}>{endpoints.length === 0 ? t.keys.oneKeyOfTheServerSvcKms : status.name}</Fact>
          <Fact name={t.keys.defaultKey} mono>
            {status['default-key-id']}
          </Fact>
        </Facts>
        {endpoints.length > 0 && (
          <RowTable
            rows={endpoints}
            rowKey={([endpoint]) => endpoint}
            columns={[
              { head: t.keys.endpoint, cell: ([endpoint]) => <span className="mono">{endpoint}</span> },
              {
                head: t.labels.state,
                width: 110,
                cell: ([, state]) => (
                  <Badge color={state === 'online' ? 'patina' : 'red'}>{t.replication[state]}</Badge>
                ),
              },
            ]}
          />
        )}
      </Stack>
    </Section>
  );
}

interface KeyListProps {
  readonly defaultKey: string;
  readonly several: boolean;
}

function KeyList({ defaultKey, several }: KeyListProps) {
  const [rotating, setRotating] = useDraft<string | undefined>('rotating', undefined);
  const [shown, setShown] = useState<string>();
  const [counting, setCounting] = useState(false);
  const keys = useQuery({
    queryKey: ['keys'],
    queryFn: () => admin<readonly { readonly name: string }[]>('GET', 'kms/key/list', { query: { pattern: '*' } }),
  });
  const { may } = useServiceKeyRights((keys.data ?? []).map(({ name }) => name));
  const usage = useQuery({
    queryKey: ['key-usage'],
    queryFn: () => admin<{ readonly keys: Readonly<Record<string, KeyUsage>> }>('GET', 'coffer/kms/key/usage'),
    enabled: counting,
    staleTime: 60_000,
  });
  const test = useApiMutation(
    (name: string) => admin<Readonly<Record<string, string>>>('GET', 'kms/key/status', { query: { 'key-id': name } }),
    [],
  );

  function check(name: string): void {
    test.mutate(name, {
      onSuccess: (answer) => {
        const issue = answer['encryption-error'] ?? answer['decryption-error'];
        if (issue === undefined) notifyDone(say(t.keys.encryptsAndDecrypts, { name }));
        else notifyFailure(say(t.keys.cannotBeUsed, { name }), new Error(issue));
      },
      onError: (error) => notifyFailure(say(t.keys.wasNotTested, { name }), error),
    });
  }

  const columns: readonly Column<{ readonly name: string }>[] = [
    {
      head: t.keys.key,
      cell: ({ name }) => (
        <Group gap={8}>
          <span className="mono">{name}</span>
          {name === defaultKey && <Badge color="gray">{t.keys.default}</Badge>}
        </Group>
      ),
    },
    ...(usage.data === undefined
      ? []
      : [
          {
            head: t.keys.encrypts,
            width: 220,
            cell: ({ name }: { readonly name: string }) => <UsageText usage={usage.data.keys[name]} />,
          },
        ]),
    {
      head: undefined,
      width: 60,
      align: 'right',
      cell: ({ name }) => (
        <Menu position="bottom-end">
          <Menu.Target>
            <ActionIcon className="row-actions" size="sm" aria-label={say(t.labels.actionsFor, { name })}>
              <IconDots size={17} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            {may('keyStatus', name) ? (
              <>
                <Menu.Item leftSection={<IconInfoCircle size={15} />} onClick={() => setShown(name)}>
                  {t.keys.details}
                </Menu.Item>
                <Menu.Item leftSection={<IconPlugConnected size={15} />} onClick={() => check(name)}>
                  {t.keys.test}
                </Menu.Item>
              </>
            ) : (
              !may('rotate', name) && <MenuNote known />
            )}
            {several && may('rotate', name) && (
              <Menu.Item leftSection={<IconRefresh size={15} />} onClick={() => setRotating(name)}>
                {t.keys.rotate}
              </Menu.Item>
            )}
          </Menu.Dropdown>
        </Menu>
      ),
    },
  ];
  return (
    <Section
      title={t.keys.keys}
      action={
        <Button
          variant="default"
          size="compact-sm"
          loading={usage.isFetching}
          onClick={() => (counting ? void usage.refetch() : setCounting(true))}
        >
          {t.keys.countWhatTheyEncrypt}
        </Button>
      }
    >
      <Stack gap="sm">
        {usage.isError && <Failure what={t.keys.theUsageCannotBeCounted} error={usage.error} />}
        <Loaded what={t.keys.theKeysCannotBeShown} query={keys}>
          {(rows) => <RowTable rows={rows} rowKey={({ name }) => name} columns={columns} />}
        </Loaded>
      </Stack>
      {shown !== undefined && <KeyDetails name={shown} onClose={() => setShown(undefined)} />}
      {rotating !== undefined && (
        <RotateDialog
          name={rotating}
          others={(keys.data ?? []).map(({ name }) => name).filter((name) => name !== rotating && may('rotate', name))}
          onClose={() => setRotating(undefined)}
        />
      )}
    </Section>
  );
}

function UsageText({ usage }: { readonly usage: KeyUsage | undefined }) {
  const { objects = 0, uploads = 0, buckets = [], backend = false } = usage ?? {};
  const parts = [
    ...(objects > 0 ? [say(t.keys.objects, { objects })] : []),
    ...(uploads > 0 ? [say(t.keys.uploads, { uploads })] : []),
    ...(buckets.length > 0 ? [say(t.keys.defaultOf, { buckets: buckets.join(', ') })] : []),
    ...(backend ? [t.keys.identitiesAndSettings] : []),
  ];
  return (
    <Text size="sm" c={parts.length === 0 ? 'dimmed' : undefined}>
      {parts.length === 0 ? t.keys.nothing : parts.join(', ')}
    </Text>
  );
}
