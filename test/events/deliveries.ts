import type { EventReceiver } from './event-receiver.ts';

/** The deliveries of writes that have their number as metadata: `KEY#NUMBER`, each once, in the order of their first coming. */
export function firstDeliveries({ records }: Pick<EventReceiver, 'records'>): readonly string[] {
  const named = records.map(({ s3: { object } }) => {
    const key = decodeURIComponent(object.key.replaceAll('+', ' '));
    return `${key}#${object.userMetadata?.['X-Amz-Meta-Number']}`;
  });
  return [...new Set(named)];
}

/** Returns the writes that have not come. */
export function missing(receiver: Pick<EventReceiver, 'records'>, writes: ReadonlySet<string>): readonly string[] {
  const came = new Set(firstDeliveries(receiver));
  return [...writes].filter((name) => !came.has(name));
}

/** Returns the deliveries of `writes` that came before an earlier write of their key. Writes whose connection broke may be made at any time, or never. */
export function outOfOrder(deliveries: readonly string[], writes: ReadonlySet<string>): readonly string[] {
  return descending(deliveries.filter((name) => writes.has(name)));
}

/** Returns the deliveries, each at its first coming, that came after one of a later revision of their key: of all writes. */
export function outOfRevisions({ records }: Pick<EventReceiver, 'records'>): readonly string[] {
  const named = records.map(({ s3: { object } }) => `${object.key}#${Number.parseInt(object.sequencer, 16)}`);
  return descending([...new Set(named)]);
}

function descending(numbered: readonly string[]): readonly string[] {
  const last = new Map<string, number>();
  return numbered.filter((name) => {
    const [key = '', number] = name.split('#');
    const before = last.get(key) ?? 0;
    last.set(key, Number(number));
    return Number(number) < before;
  });
}
