import { SegmentedControl, Select, SimpleGrid, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { MetricsAnswer, MetricsAnswerPoint, UsageHistoryAnswer } from '../../../contract/operations-answers.ts';
import { call } from '../api/call.ts';
import { useRights } from '../api/session.ts';
import { DetailPage, Loaded, Section } from '../components/detail-page.tsx';
import { formatBytes } from '../text/format.ts';
import { LineChart, type Series } from './line-chart.tsx';
import { UsageChart } from './usage-chart.tsx';

const spans = [
  { value: '15', label: '15 min' },
  { value: '60', label: '1 hour' },
  { value: '360', label: '6 hours' },
  { value: '1440', label: '1 day' },
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
      title="Traffic"
      width={1_180}
      actions={
        may('admin:Prometheus') && (
          <>
            {servers.length > 1 && (
              <Select
                aria-label="Server"
                placeholder="All servers"
                data={[...servers]}
                value={server}
                onChange={setServer}
                clearable
                w={210}
              />
            )}
            <SegmentedControl aria-label="Time" data={spans} value={minutes} onChange={setMinutes} size="xs" />
          </>
        )
      }
    >
      {may('admin:Prometheus') && (
        <Loaded name="The traffic" query={metrics}>
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
    queryFn: ({ signal }) => call<MetricsAnswer>('GET', '/metrics', { query: { minutes, server }, signal }),
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
        Nothing was measured yet. The first values come within half a minute.
      </Text>
    );
  }
  const common = { times, formatTime: formatClock };
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
      <LineChart
        {...common}
        title="Requests"
        format={perSecond}
        series={[line('S3 requests', 'first', ({ requests }) => requests)]}
      />
      <LineChart
        {...common}
        title="Errors"
        format={perSecond}
        series={[
          line('refused (4xx)', 'second', ({ clientErrors }) => clientErrors),
          line('failed (5xx)', 'bad', ({ serverErrors }) => serverErrors),
        ]}
      />
      <LineChart
        {...common}
        title="Time to the first byte"
        format={formatMs}
        series={[line('median', 'first', ({ median }) => median), line('99 of 100', 'second', ({ p99 }) => p99)]}
      />
      <LineChart
        {...common}
        title="Throughput"
        format={(bytes) => `${formatBytes(bytes)}/s`}
        series={[line('sent', 'first', ({ sent }) => sent), line('received', 'second', ({ received }) => received)]}
      />
      <LineChart
        {...common}
        title="Processors"
        format={(cpus) => cpus.toFixed(2)}
        series={[line('busy', 'first', ({ cpus }) => cpus)]}
      />
      <LineChart
        {...common}
        title="Memory"
        format={(mib) => formatBytes(mib * 1_048_576)}
        series={[line('resident', 'first', ({ memoryMib }) => memoryMib)]}
      />
    </SimpleGrid>
  );
}

function Usage() {
  const usage = useQuery({
    queryKey: ['usage-history'],
    queryFn: () => call<UsageHistoryAnswer>('GET', '/usage-history'),
    refetchInterval: 60_000,
  });
  return (
    <Section title="Stored data" words="The last count of each day, for up to 90 days.">
      <Loaded name="The usage" query={usage}>
        {({ days }) => (
          <Stack gap="md">
            <UsageChart days={days} />
          </Stack>
        )}
      </Loaded>
    </Section>
  );
}

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' });

function formatClock(ms: number): string {
  return clock.format(ms);
}

export function perSecond(rate: number): string {
  return `${rate >= 100 ? rate.toFixed(0) : rate >= 10 ? rate.toFixed(1) : rate.toFixed(2)}/s`;
}

function formatMs(ms: number): string {
  return ms >= 1_000 ? `${(ms / 1_000).toFixed(1)} s` : `${ms >= 100 ? ms.toFixed(0) : ms.toFixed(1)} ms`;
}
