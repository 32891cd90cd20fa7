import { Alert, Anchor, Badge, Group, Progress, SimpleGrid, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { StatusAnswer } from '../../../contract/answers.ts';
import { CopyText } from '../components/copy-text.tsx';
import { type Column, RowTable } from '../components/row-table.tsx';
import { DetailPage, Fact, Facts, Loaded, Section } from '../components/detail-page.tsx';
import { formatBytes, formatTime } from '../text/format.ts';
import { useQuery } from '@tanstack/react-query';
import { call } from '../api/call.ts';
import { useRights } from '../api/session.ts';
import { HealthSection } from '../operations/health-section.tsx';
import { LineChart } from '../operations/line-chart.tsx';
import { perSecond, useMetrics } from '../operations/traffic-page.tsx';
import { Link } from 'react-router';

export function StatusPage() {
  const status = useStatus();
  const { may } = useRights();
  return (
    <DetailPage title="Status">
      <HealthSection />
      {may('admin:Prometheus') && <LastHour />}
      <Loaded name="The status" query={status}>
        {(found) => <Details status={found} />}
      </Loaded>
    </DetailPage>
  );
}

/** Requests and errors of the last hour. The page Traffic has more. */
function LastHour() {
  const metrics = useMetrics('60', undefined, true);
  const points = metrics.data?.points ?? [];
  const common = {
    times: points.map(({ at }) => at),
    format: perSecond,
    formatTime: (ms: number) => formatTime(new Date(ms).toISOString()),
  };
  const valuesOf = (name: 'requests' | 'clientErrors' | 'serverErrors') => points.map(({ values }) => values?.[name]);
  return (
    <Section
      title="The last hour"
      action={
        <Anchor component={Link} to="/traffic" size="sm">
          Traffic
        </Anchor>
      }
    >
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <LineChart
          {...common}
          title="Requests"
          series={[{ name: 'S3 requests', color: 'first', values: valuesOf('requests') }]}
        />
        <LineChart
          {...common}
          title="Errors"
          series={[
            { name: 'refused', color: 'second', values: valuesOf('clientErrors') },
            { name: 'failed', color: 'bad', values: valuesOf('serverErrors') },
          ]}
        />
      </SimpleGrid>
    </Section>
  );
}

function Details({ status }: { readonly status: StatusAnswer }) {
  return (
    <>
      <Facts>
        <Fact name="Version">{status.version}</Fact>
        <Fact name="Licence">Apache-2.0</Fact>
        <Fact name="Deployment">
          <CopyText text={status.deploymentId} />
        </Fact>
        <Fact name="Region">{status.region}</Fact>
        <Fact name="Data" mono>
          {status.dataFolder}
        </Fact>
        <Fact name="Buckets">{status.buckets}</Fact>
      </Facts>
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

type Server = StatusAnswer['servers'][number];

function Servers({ servers }: { readonly servers: readonly Server[] }) {
  const columns: readonly Column<Server>[] = [
    {
      head: 'Address',
      cell: ({ endpoint, here }) => (
        <Group gap={8}>
          <span className="mono">{endpoint}</span>
          {here && servers.length > 1 && <Badge color="gray">this one</Badge>}
        </Group>
      ),
    },
    { head: 'Version', width: 140, cell: ({ version }) => version },
    { head: 'Running since', width: 220, cell: ({ startedAt }) => formatTime(startedAt) },
  ];
  return <RowTable rows={servers} rowKey={({ endpoint, startedAt }) => `${endpoint} ${startedAt}`} columns={columns} />;
}

function KeyService({ keyService }: { readonly keyService: StatusAnswer['keyService'] }) {
  if (keyService.kind === 'none') return <Text size="sm">None is configured: encryption is off.</Text>;
  return (
    <Stack gap="sm">
      {keyService.kind === 'offline' && (
        <Alert color="red" icon={<IconAlertTriangle size={18} />}>
          It does not answer, or does not have the default key. Encrypted objects cannot be read or written now.
        </Alert>
      )}
      <Facts>
        <Fact name="State">
          <Badge color={keyService.kind === 'online' ? 'patina' : 'red'}>{keyService.kind}</Badge>
        </Fact>
        <Fact name="Default key" mono>
          {keyService.defaultKey}
        </Fact>
        <Fact name="Address" mono>
          {keyService.endpoints.join(', ')}
        </Fact>
      </Facts>
    </Stack>
  );
}

function Providers({ status: { providers, directory } }: { readonly status: StatusAnswer }) {
  if (providers.length === 0 && !directory) return <Text size="sm">None: people sign in by access keys.</Text>;
  return (
    <Facts>
      {providers.map(({ name, displayName, reason }) => (
        <Fact key={name} name={displayName}>
          {reason === undefined ? <Badge>ready</Badge> : <Text size="sm">Cannot be used now: {reason}</Text>}
        </Fact>
      ))}
      <Fact name="Directory">{directory ? 'LDAP is configured' : undefined}</Fact>
    </Facts>
  );
}

function useStatus() {
  return useQuery({
    queryKey: ['status'],
    queryFn: () => call<StatusAnswer>('GET', '/status'),
    refetchInterval: 15_000,
  });
}
