import { Select, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'react-router';
import type { UsageHistoryAnswer } from '../../../protocol/console/operations-answers.ts';
import { RowTable } from '../components/row-table.tsx';
import { folderUrl } from '../components/urls.ts';
import { formatBytes, formatCount, formatDay } from '../text/format.ts';
import { LineChart } from './line-chart.tsx';
import { t } from '../texts/texts.ts';

type Days = UsageHistoryAnswer['days'];

/** The bytes of all buckets, or of one, over the days, and the largest buckets with their growth. */
export function UsageChart({ days }: { readonly days: Days }) {
  const [bucket, setBucket] = useState<string | null>(null);
  const last = days.at(-1);
  if (last === undefined) {
    return (
      <Text size="sm" c="dimmed">
        {t.operations.theObjectsWereNotCountedYet}
      </Text>
    );
  }
  const values = days.map(({ bytes, buckets }) =>
    bucket === null ? bytes : buckets.find((one) => one.bucket === bucket)?.bytes,
  );
  const first = days[Math.max(0, days.length - 31)];
  const rows = last.buckets.slice(0, 10).map((row) => {
    const before = first?.buckets.find((one) => one.bucket === row.bucket)?.bytes;
    return { ...row, growth: before === undefined || first === last ? undefined : row.bytes - before };
  });
  return (
    <Stack gap="md">
      <Select
        aria-label={t.labels.bucket}
        placeholder={t.operations.allBuckets}
        data={last.buckets.map((one) => one.bucket)}
        value={bucket}
        onChange={setBucket}
        searchable
        clearable
        maw={320}
      />
      <LineChart
        title={bucket ?? t.operations.allBuckets}
        times={days.map(({ day }) => Date.parse(day))}
        series={[{ name: t.operations.storedWord, color: 'first', values }]}
        format={formatBytes}
        formatTime={formatDay}
      />
      <RowTable
        rows={rows}
        rowKey={(row) => row.bucket}
        columns={[
          {
            head: t.operations.largestBuckets,
            cell: (row) => (
              <Link className="row-name" to={folderUrl(row.bucket, '')}>
                <span>{row.bucket}</span>
              </Link>
            ),
          },
          {
            head: t.labels.objects,
            align: 'right',
            width: 120,
            wideOnly: true,
            cell: (row) => formatCount(row.objects),
          },
          { head: t.labels.size, align: 'right', width: 110, cell: (row) => formatBytes(row.bytes) },
          {
            head: t.operations.in30Days,
            align: 'right',
            width: 120,
            cell: ({ growth }) =>
              growth === undefined ? '–' : `${growth < 0 ? '−' : '+'}${formatBytes(Math.abs(growth))}`,
          },
        ]}
      />
    </Stack>
  );
}
