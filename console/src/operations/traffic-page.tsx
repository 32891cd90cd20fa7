import { SegmentedControl, Select, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type {
  MetricsAnswer,
  MetricsAnswerPoint,
  UsageHistoryAnswer,
} from '../../../protocol/console/operations-answers.ts';
import { call, isRefresh } from '../api/call.ts';
import { useRights } from '../api/session.ts';
import { DetailPage, Loaded, Section } from '../components/detail-page.tsx';
import { formatBytes, formatNumber } from '../text/format.ts';
import { ChartGrid, LineChart, LoadingCharts, type Series } from './line-chart.tsx';
import { UsageChart } from './usage-chart.tsx';
import { t } from '../texts/texts.ts';
import { locale } from '../texts/language.ts';

const spans = [
  { value: '15', label: t.operations.n15Min },
  { value: '60', label: t.operations.n1Hour },
  { value: '360', label: t.operations.n6Hours },
  { value: '1440', label: t.operations.n1Day },
];

/** The charts of requests, errors, latency and throughput of the last day, and of the usage of the last months. */
export function TrafficPage() {
  const { may } = useRights();
  const [minutes, setMinutes] = useState('60');
  const [server, setServer] = useState<string | null>(null);
  const metrics = useMetrics(minutes, server ?? undefined, may('admin:Prometheus'));
  const servers = metrics.data?.servers ?? [];
  return (
    <DetailPage
      title={t.operations.traffic}
      actions={
        may('admin:Prometheus') && (
          <>
            {servers.length > 1 && (
              <Select
                aria-label={t.operations.server}
                placeholder={t.operations.allServers}
                data={[...servers]}
                value={server}
                onChange={setServer}
                clearable
                w={210}
              />
            )}
            <SegmentedControl
              aria-label={t.operations.time}
              data={spans}
              value={minutes}
              onChange={setMinutes}
              size="xs"
            />
          </>
        )
      }
    >
      {may('admin:Prometheus') && (
        <Loaded what={t.operations.theTrafficCannotBeShown} query={metrics} loading={<LoadingCharts count={6} />}>
          {(answer) => <Charts answer={answer} />}
        </Loaded>
      )}
      {may('admin:DataUsageInfo') && <Usage />}
    </DetailPage>
  );
}

export function useMetrics(minutes: string, server: string | undefined, enabled: boolean) {
  return useQuery({
    queryKey: ['metrics', minutes, server ?? ''],
    queryFn: (query) =>
      call<MetricsAnswer>('GET', '/metrics', {
        query: { minutes, server },
        signal: query.signal,
        refresh: isRefresh(query),
      }),
    // The servers count in steps of ten seconds.
    refetchInterval: minutes === '1440' ? 60_000 : 10_000,
    placeholderData: (before) => before,
    enabled,
  });
}

type Values = NonNullable<MetricsAnswerPoint['values']>;

function Charts({ answer }: { readonly answer: MetricsAnswer }) {
  const { points } = answer;
  const times = points.map(({ at }) => at);
  const line = (name: string, color: Series['color'], valueOf: (values: Values) => number | undefined): Series => ({
    name,
    color,
    values: points.map(({ values }) => (values === undefined ? undefined : valueOf(values))),
  });
  if (!points.some(({ values }) => values !== undefined)) {
    return (
      <Text size="sm" c="dimmed" role="status">
        {t.operations.nothingWasMeasuredYetTheFirstValues}
      </Text>
    );
  }
  const common = { times, formatTime: formatClock };
  return (
    <ChartGrid>
      <LineChart
        {...common}
        title={t.operations.requests}
        format={perSecond}
        series={[line(t.operations.s3Requests, 'first', ({ requests }) => requests)]}
      />
      <LineChart
        {...common}
        title={t.operations.errors}
        format={perSecond}
        series={[
          line(t.operations.refused4xx, 'second', ({ clientErrors }) => clientErrors),
          line(t.operations.failed5xx, 'bad', ({ serverErrors }) => serverErrors),
        ]}
      />
      <LineChart
        {...common}
        title={t.operations.timeToTheFirstByte}
        format={formatMs}
        series={[
          line(t.operations.median, 'first', ({ median }) => median),
          line(t.operations.n99Of100, 'second', ({ p99 }) => p99),
        ]}
      />
      <LineChart
        {...common}
        title={t.operations.throughput}
        format={(bytes) => `${formatBytes(bytes)}/s`}
        series={[
          line(t.operations.sent, 'first', ({ sent }) => sent),
          line(t.operations.received, 'second', ({ received }) => received),
        ]}
      />
      <LineChart
        {...common}
        title={t.operations.processors}
        format={(cpus) => formatNumber(cpus, 2)}
        series={[line(t.operations.busy, 'first', ({ cpus }) => cpus)]}
      />
      <LineChart
        {...common}
        title={t.operations.memory}
        format={(mib) => formatBytes(mib * 1_048_576)}
        series={[line(t.operations.resident, 'first', ({ memoryMib }) => memoryMib)]}
      />
    </ChartGrid>
  );
}

function Usage() {
  const usage = useQuery({
    queryKey: ['usage-history'],
    queryFn: (query) => call<UsageHistoryAnswer>('GET', '/usage-history', { refresh: isRefresh(query) }),
    refetchInterval: 60_000,
  });
  return (
    <Section title={t.operations.storedData} words={t.operations.theLastCountOfEachDayFor}>
      <Loaded what={t.operations.theUsageCannotBeShown} query={usage}>
        {({ days }) => (
          <Stack gap="md">
            <UsageChart days={days} />
          </Stack>
        )}
      </Loaded>
    </Section>
  );
}

const clock = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', second: '2-digit' });

function formatClock(ms: number): string {
  return clock.format(ms);
}

export function perSecond(rate: number): string {
  return `${formatNumber(rate, rate >= 100 ? 0 : rate >= 10 ? 1 : 2)}/s`;
}

function formatMs(ms: number): string {
  return ms >= 1_000 ? `${formatNumber(ms / 1_000, 1)} s` : `${formatNumber(ms, ms >= 100 ? 0 : 1)} ms`;
}
