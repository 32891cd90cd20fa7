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

/** Returns the deliveries that came after a later one of their key. */
export function outOfOrder(deliveries: readonly string[]): readonly string[] {
  const last = new Map<string, number>();
  return deliveries.filter((name) => {
    const [key = '', number] = name.split('#');
    const before = last.get(key) ?? 0;
    last.set(key, Number(number));
    return Number(number) < before;
  });
}
