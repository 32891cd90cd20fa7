import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { BucketGrowthAnswer } from '../../../protocol/console/operations-answers.ts';
import { bucketPath } from '../api/buckets.ts';
import { call } from '../api/call.ts';
import { Loaded } from '../components/detail-page.tsx';
import { LineChart } from '../operations/line-chart.tsx';
import { formatBytes } from '../text/format.ts';
import { t } from '../texts/texts.ts';

/** The bytes of the bucket over the last 90 days, by the last count of each day. */
export function GrowthChart({ bucket }: { readonly bucket: string }) {
  const growth = useQuery({
    queryKey: ['growth', bucket],
    queryFn: () => call<BucketGrowthAnswer>('GET', `${bucketPath(bucket)}/growth`),
  });
  return (
    <Loaded what={t.bucketSettings.theGrowthCannotBeShown} query={growth}>
      {({ days }) =>
        days.length < 2 ? (
          <Text size="sm" c="dimmed">
            {t.bucketSettings.theGrowthShowsAfterTwoDaysWith}
          </Text>
        ) : (
          <LineChart
            title={t.bucketSettings.growth}
            times={days.map(({ day }) => Date.parse(day))}
            series={[{ name: t.bucketSettings.stored, color: 'first', values: days.map(({ bytes }) => bytes) }]}
            format={formatBytes}
            formatTime={(ms) => new Date(ms).toISOString().slice(0, 10)}
          />
        )
      }
    </Loaded>
  );
}
