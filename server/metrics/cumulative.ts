import { firstByteBounds } from './request-counters.ts';

type Bound = number | '+Inf';

/** Requests up to each bound; all of them at the last. */
export function cumulative({
  firstBytes,
}: {
  readonly firstBytes: readonly number[];
}): readonly { readonly le: Bound; readonly count: number }[] {
  let count = 0;
  return firstBytes.map((more, index) => {
    count += more;
    return { le: firstByteBounds[index] ?? '+Inf', count };
  });
}

/** A bound as MinIO writes it. */
export function boundLabel(le: Bound): string {
  return typeof le === 'number' ? le.toFixed(3) : le;
}
