import { Group, SimpleGrid, Skeleton, Text } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { type PointerEvent, type ReactNode, useState } from 'react';
import { areaPath, linePath, niceMax, type Plot } from './chart-paths.ts';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

export interface Series {
  readonly name: string;
  readonly color: 'first' | 'second' | 'bad';
  /** Undefined where nothing is known. */
  readonly values: readonly (number | undefined)[];
}

interface LineChartProps {
  readonly title: string;
  /** Milliseconds since 1970, for each value. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly format: (value: number) => string;
  /** Formats the time below the pointer. */
  readonly formatTime: (ms: number) => string;
}

const height = 132;

/** Charts next to each other where the page has the width, and below each other on a phone. */
export function ChartGrid({ children }: { readonly children: ReactNode }) {
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md">
      {children}
    </SimpleGrid>
  );
}

/** Shown instead of charts that are loading, with their frames. */
export function LoadingCharts({ count }: { readonly count: number }) {
  return (
    <div role="status" aria-label={t.components.loading}>
      <ChartGrid>
        {Array.from({ length: count }, (_, index) => (
          <div key={index} className="chart">
            <Skeleton h={14} w="30%" my={4} />
            <Skeleton h={10} w="45%" my={4} />
            <div style={{ height: height + 8 }} />
          </div>
        ))}
      </ChartGrid>
    </div>
  );
}

/** Lines over time. The legend has the last values, or those below the pointer. */
export function LineChart({ title, times, series, format, formatTime }: LineChartProps) {
  const { ref, width } = useElementSize();
  const [pointed, setPointed] = useState<number>();
  const max = niceMax(Math.max(0, ...series.flatMap(({ values }) => values.map((value) => value ?? 0))));
  const plot: Plot = { width, height, max, count: times.length };
  const shown = pointed ?? lastKnown(series);

  function point(event: PointerEvent<SVGSVGElement>): void {
    const { left } = event.currentTarget.getBoundingClientRect();
    const index = Math.round(((event.clientX - left) / Math.max(1, width)) * (times.length - 1));
    setPointed(Math.min(times.length - 1, Math.max(0, index)));
  }

  return (
    <figure className="chart">
      <figcaption>
        <Group justify="space-between" gap={8} wrap="nowrap" align="baseline">
          <Text fw={600} size="sm">
            {title}
          </Text>
          <Text size="xs" c="dimmed">
            {times[shown] === undefined ? '' : formatTime(times[shown])}
          </Text>
        </Group>
        <Group gap={14}>
          {series.map(({ name, color, values }) => (
            <Text key={name} size="xs" component="span">
              <span className="chart-key" data-color={color} aria-hidden /> {name}{' '}
              <strong>{values[shown] === undefined ? '–' : format(values[shown])}</strong>
            </Text>
          ))}
        </Group>
      </figcaption>
      <div ref={ref} style={{ position: 'relative' }}>
        <svg
          width="100%"
          height={height}
          role="img"
          aria-label={summaryOf(title, series, format)}
          onPointerMove={point}
          onPointerLeave={() => setPointed(undefined)}
        >
          {[0.25, 0.5, 0.75].map((share) => (
            <line key={share} className="chart-grid" x1={0} x2={width} y1={height * share} y2={height * share} />
          ))}
          {series.map(({ name, color, values }, index) => (
            <g key={name} data-color={color}>
              {index === 0 && <path className="chart-area" d={areaPath(values, plot)} />}
              <path className="chart-line" d={linePath(values, plot)} />
            </g>
          ))}
          {pointed !== undefined && times.length > 1 && (
            <line
              className="chart-cursor"
              x1={(pointed / (times.length - 1)) * width}
              x2={(pointed / (times.length - 1)) * width}
              y1={0}
              y2={height}
            />
          )}
        </svg>
        <Text size="xs" c="dimmed" className="chart-max" aria-hidden>
          {format(max)}
        </Text>
      </div>
    </figure>
  );
}

function lastKnown(series: readonly Series[]): number {
  return Math.max(-1, ...series.map(({ values }) => values.findLastIndex((value) => value !== undefined)));
}

/** The text for those who do not see the lines. */
function summaryOf(title: string, series: readonly Series[], format: (value: number) => string): string {
  const parts = series.map(({ name, values }) => {
    const known = values.filter((value) => value !== undefined);
    if (known.length === 0) return say(t.operations.nothingKnown, { name });
    return say(t.operations.nowAtMost, {
      name,
      now: format(known.at(-1) ?? 0),
      most: format(Math.max(...known)),
    });
  });
  return `${title}. ${parts.join('. ')}.`;
}
