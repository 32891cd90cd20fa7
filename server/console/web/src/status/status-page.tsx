import { Alert, Badge, Group, Progress, Stack, Table, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { StatusAnswer } from '../../../contract/answers.ts';
import { CopyText } from '../components/copy-text.tsx';
import { Failure } from '../components/feedback.tsx';
import { LoadingRows } from '../components/list-page.tsx';
import { Section } from '../components/detail-page.tsx';
import { formatBytes, formatTime } from '../text/format.ts';
import { useQuery } from '@tanstack/react-query';
import { call } from '../api/call.ts';

export function StatusPage() {
  useDocumentTitle('Status · Coffer');
  const status = useStatus();
  return (
    <Stack gap="xl" maw={860}>
      <Title order={1} mih={36}>
        Status
      </Title>
      {status.isPending && <LoadingRows />}
      {status.isError && <Failure what="The status cannot be shown" error={status.error} retry={status.refetch} />}
      {status.data !== undefined && <Details status={status.data} />}
    </Stack>
  );
}

function Details({ status }: { readonly status: StatusAnswer }) {
  return (
    <>
      <dl className="facts">
        <dt>Version</dt>
        <dd>{status.version}</dd>
        <dt>Deployment</dt>
        <dd>
          <CopyText text={status.deploymentId} />
        </dd>
        {status.region !== '' && (
          <>
            <dt>Region</dt>
            <dd>{status.region}</dd>
          </>
        )}
        <dt>Data</dt>
        <dd className="mono">{status.dataFolder}</dd>
        <dt>Buckets</dt>
        <dd>{status.buckets}</dd>
      </dl>
      <Space space={status.space} />
      <Section title={status.servers.length === 1 ? 'Server' : 'Servers'}>
        <Servers servers={status.servers} />
      </Section>
      <Section title="Key service">
        <KeyService keyService={status.keyService} />
      </Section>
      <Section title="Identity providers">
        <Providers status={status} />
      </Section>
    </>
  );
}

function Space({ space }: { readonly space: StatusAnswer['space'] }) {
  if (space === undefined) return null;
  const used = space.total === 0 ? 0 : (100 * (space.total - space.free)) / space.total;
  return (
    <Section title="Space">
      <Stack gap={6} maw={420}>
        <Progress value={used} color={used > 90 ? 'red' : 'patina'} aria-label="Space that is used" />
        <Text size="sm">
          {formatBytes(space.free)} free of {formatBytes(space.total)}
        </Text>
      </Stack>
    </Section>
  );
}

function Servers({ servers }: { readonly servers: StatusAnswer['servers'] }) {
  return (
    <div className="rows">
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Address</Table.Th>
            <Table.Th w={140}>Version</Table.Th>
            <Table.Th w={220}>Running since</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {servers.map((server) => (
            <Table.Tr key={`${server.endpoint} ${server.startedAt}`}>
              <Table.Td>
                <Group gap={8}>
                  <span className="mono">{server.endpoint}</span>
                  {server.here && servers.length > 1 && <Badge color="gray">this one</Badge>}
                </Group>
              </Table.Td>
              <Table.Td>{server.version}</Table.Td>
              <Table.Td>{formatTime(server.startedAt)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}

function KeyService({ keyService }: { readonly keyService: StatusAnswer['keyService'] }) {
  if (keyService.kind === 'none') return <Text size="sm">None is configured: encryption is off.</Text>;
  return (
    <Stack gap="sm">
      {keyService.kind === 'offline' && (
        <Alert color="red" icon={<IconAlertTriangle size={18} />}>
          It does not answer, or does not know the default key. Encrypted objects cannot be read or written meanwhile.
        </Alert>
      )}
      <dl className="facts">
        <dt>State</dt>
        <dd>
          <Badge color={keyService.kind === 'online' ? 'patina' : 'red'}>{keyService.kind}</Badge>
        </dd>
        <dt>Default key</dt>
        <dd className="mono">{keyService.defaultKey}</dd>
        {keyService.endpoints.length > 0 && (
          <>
            <dt>Address</dt>
            <dd className="mono">{keyService.endpoints.join(', ')}</dd>
          </>
        )}
      </dl>
    </Stack>
  );
}

function Providers({ status: { providers, directory } }: { readonly status: StatusAnswer }) {
  if (providers.length === 0 && !directory) return <Text size="sm">None: people sign in by access keys.</Text>;
  return (
    <dl className="facts">
      {providers.map(({ name, displayName, reason }) => (
        <ProviderFact key={name} name={displayName} reason={reason} />
      ))}
      {directory && (
        <>
          <dt>Directory</dt>
          <dd>LDAP is configured</dd>
        </>
      )}
    </dl>
  );
}

function ProviderFact({ name, reason }: { readonly name: string; readonly reason: string | undefined }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{reason === undefined ? <Badge>ready</Badge> : <Text size="sm">Cannot be used now: {reason}</Text>}</dd>
    </>
  );
}

function useStatus() {
  return useQuery({
    queryKey: ['status'],
    queryFn: () => call<StatusAnswer>('GET', '/status'),
    refetchInterval: 15_000,
  });
}
