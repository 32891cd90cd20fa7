import { Alert, Anchor, Badge, Group, Progress, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { StatusAnswer } from '../../../protocol/console/answers.ts';
import type { MetricsAnswer } from '../../../protocol/console/operations-answers.ts';
import { CopyText } from '../components/copy-text.tsx';
import { type Column, RowTable, TimeText } from '../components/row-table.tsx';
import { DetailPage, Fact, Facts, Loaded, Section } from '../components/detail-page.tsx';
import { formatBytes, formatTime } from '../text/format.ts';
import { useQuery } from '@tanstack/react-query';
import { call, isRefresh } from '../api/call.ts';
import { useRights } from '../api/session.ts';
import { HealthSection } from '../operations/health-section.tsx';
import { ChartGrid, LineChart, LoadingCharts } from '../operations/line-chart.tsx';
import { perSecond, useMetrics } from '../operations/traffic-page.tsx';
import { Link } from 'react-router';
import { State } from '../providers/provider-state.tsx';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

export function StatusPage() {
  const status = useStatus();
  const { may } = useRights();
  return (
    <DetailPage title={t.labels.status}>
      <HealthSection />
      {may('admin:Prometheus') && <LastHour />}
      <Loaded what={t.operations.theStatusCannotBeShown} query={status}>
        {(found) => <Details status={found} />}
      </Loaded>
    </DetailPage>
  );
}

/** Requests and errors of the last hour. The page Traffic has more. */
function LastHour() {
  const metrics = useMetrics('60', undefined, true);
  return (
    <Section
      title={t.operations.theLastHour}
      action={
        <Anchor component={Link} to="/traffic" size="sm">
          {t.operations.traffic}
        </Anchor>
      }
    >
      <Loaded what={t.operations.theTrafficCannotBeShown} query={metrics} loading={<LoadingCharts count={2} />}>
        {({ points }) => <HourCharts points={points} />}
      </Loaded>
    </Section>
  );
}

function HourCharts({ points }: Pick<MetricsAnswer, 'points'>) {
  if (!points.some(({ values }) => values !== undefined)) {
    return (
      <Text size="sm" c="dimmed">
        {t.operations.nothingWasMeasuredYetTheFirstValues}
      </Text>
    );
  }
  const common = {
    times: points.map(({ at }) => at),
    format: perSecond,
    formatTime: (ms: number) => formatTime(new Date(ms).toISOString()),
  };
  const valuesOf = (name: 'requests' | 'clientErrors' | 'serverErrors') => points.map(({ values }) => values?.[name]);
  return (
    <ChartGrid>
      <LineChart
        {...common}
        title={t.operations.requests}
        series={[{ name: t.operations.s3Requests, color: 'first', values: valuesOf('requests') }]}
      />
      <LineChart
        {...common}
        title={t.operations.errors}
        series={[
          { name: t.operations.refused, color: 'second', values: valuesOf('clientErrors') },
          { name: t.operations.failed, color: 'bad', values: valuesOf('serverErrors') },
        ]}
      />
    </ChartGrid>
  );
}

function Details({ status }: { readonly status: StatusAnswer }) {
  return (
    <>
      <Facts>
        <Fact name={t.operations.version}>{status.version}</Fact>
        <Fact name={t.operations.licence}>Apache-2.0</Fact>
        <Fact name={t.operations.deployment}>
          <CopyText text={status.deploymentId} />
        </Fact>
        <Fact name={t.labels.region}>{status.region}</Fact>
        <Fact name={t.operations.data} mono>
          {status.dataFolder}
        </Fact>
        <Fact name={t.labels.buckets}>{status.buckets}</Fact>
      </Facts>
      <Space space={status.space} />
      <Section title={status.servers.length === 1 ? t.operations.server : t.operations.servers}>
        <Servers servers={status.servers} />
      </Section>
      <Section title={t.operations.keyService}>
        <KeyService keyService={status.keyService} />
      </Section>
      <Section title={t.labels.identityProviders}>
        <Providers status={status} />
      </Section>
    </>
  );
}

function Space({ space }: { readonly space: StatusAnswer['space'] }) {
  if (space === undefined) return null;
  const used = space.total === 0 ? 0 : (100 * (space.total - space.free)) / space.total;
  return (
    <Section title={t.operations.space}>
      <Stack gap={6} maw={420}>
        <Progress value={used} color={used > 90 ? 'red' : 'patina'} aria-label={t.operations.spaceThatIsUsed} />
        <Text size="sm">
          {say(t.operations.freeOf, { free: formatBytes(space.free), total: formatBytes(space.total) })}
        </Text>
        {space.inodes !== undefined && space.inodes.free < space.inodes.total / 100 && (
          <Text size="sm" c="red">
            {say(t.operations.fewInodes, { free: String(space.inodes.free), total: String(space.inodes.total) })}
          </Text>
        )}
      </Stack>
    </Section>
  );
}

type Server = StatusAnswer['servers'][number];

function Servers({ servers }: { readonly servers: readonly Server[] }) {
  const columns: readonly Column<Server>[] = [
    {
      head: t.labels.address,
      cell: ({ endpoint, here }) => (
        <Group gap={8}>
          <span className="mono">{endpoint}</span>
          {here && servers.length > 1 && <Badge color="gray">{t.operations.thisOne}</Badge>}
        </Group>
      ),
    },
    { head: t.operations.version, width: 140, cell: ({ version }) => version },
    { head: t.operations.runningSince, width: 220, cell: ({ startedAt }) => <TimeText at={startedAt} /> },
  ];
  return <RowTable rows={servers} rowKey={({ endpoint, startedAt }) => `${endpoint} ${startedAt}`} columns={columns} />;
}

function KeyService({ keyService }: { readonly keyService: StatusAnswer['keyService'] }) {
  if (keyService.kind === 'none') return <Text size="sm">{t.operations.noneIsConfiguredEncryptionIsOff}</Text>;
  return (
    <Stack gap="sm">
      {keyService.kind === 'offline' && (
        <Alert color="red" icon={<IconAlertTriangle size={18} />}>
          {t.operations.itDoesNotAnswerOrDoesNot}
        </Alert>
      )}
      <Facts>
        <Fact name={t.labels.state}>
          <Badge color={keyService.kind === 'online' ? 'patina' : 'red'}>{t.replication[keyService.kind]}</Badge>
        </Fact>
        <Fact name={t.operations.defaultKey} mono>
          {keyService.defaultKey}
        </Fact>
        <Fact name={t.labels.address} mono>
          {keyService.endpoints.join(', ')}
        </Fact>
      </Facts>
    </Stack>
  );
}

function Providers({ status: { providers, directory } }: { readonly status: StatusAnswer }) {
  if (providers.length === 0 && !directory) return <Text size="sm">{t.operations.nonePeopleSignInByAccessKeys}</Text>;
  return (
    <Facts>
      {providers.map(({ name, displayName, reason }) => (
        <Fact key={name} name={displayName}>
          <State state={reason === undefined ? { kind: 'ready' } : { kind: 'unavailable', reason }} />
        </Fact>
      ))}
      <Fact name={t.operations.directory}>{directory ? t.operations.ldapIsConfigured : undefined}</Fact>
    </Facts>
  );
}

function useStatus() {
  return useQuery({
    queryKey: ['status'],
    queryFn: (query) => call<StatusAnswer>('GET', '/status', { refresh: isRefresh(query) }),
    refetchInterval: 15_000,
  });
}
