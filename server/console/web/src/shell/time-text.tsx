import { Text } from '@mantine/core';
import { formatExactTime, formatTime } from '../text/time.ts';

/** A moment beside other things; to the millisecond where one points at it. */
export function TimeText({ at }: { readonly at: string }) {
  return (
    <Text size="sm" c="dimmed" component="time" dateTime={at} title={formatExactTime(at)}>
      {formatTime(at)}
    </Text>
  );
}
