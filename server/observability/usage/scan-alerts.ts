import type { NotificationRule } from '../../../protocol/s3/bucket-notification.ts';
import { covers } from '../../../protocol/s3/event-names.ts';
import { AttemptEvents } from '../../objects/events/attempt-events.ts';
import { ruledEvent } from '../../objects/records/object-event.ts';
import { queueEvent } from '../../objects/events/outbox.ts';
import type { ObjectContext } from '../../objects/context/context.ts';
import { commitOnce } from '../../store/commits.ts';
import { decodeKey } from '../../store/keys.ts';
import type { BucketRecord } from '../../objects/records/bucket-record.ts';

/** The limits above which a count reports a key or a prefix. */
export interface AlertLimits {
  /** Versions of a key. */
  readonly versions: number;
  /** Bytes of the noncurrent versions of a key. */
  readonly bytes: number;
  /** Prefixes directly below a prefix, with `/` as the delimiter. */
  readonly folders: number;
}

export interface ScanAlert {
  readonly name: 's3:Scanner:ManyVersions' | 's3:Scanner:LargeVersions' | 's3:Scanner:BigPrefix';
  readonly bucket: string;
  /** The key, or the prefix with its delimiter; empty for the whole bucket. */
  readonly key: string;
}

const alertNames = ['s3:Scanner:ManyVersions', 's3:Scanner:LargeVersions', 's3:Scanner:BigPrefix'] as const;

/** Reports whether a rule asks for an alert. Without one a count looks for none. */
export function asksForAlerts(rules: readonly NotificationRule[] = []): boolean {
  return rules.some(({ events }) => events.some((asked) => alertNames.some((name) => covers(asked, name))));
}

/** Alerts of one count. A store with more of them has a problem that these show well enough. */
const MAX_ALERTS = 10_000;

/** Finds the keys and prefixes of buckets whose rules ask for alerts. The records come in the order of their keys. */
export class AlertFinder {
  readonly alerts: ScanAlert[] = [];
  readonly #limits: AlertLimits;
  #prefixes: { readonly bucket: string; readonly open: OpenPrefix[] } | undefined;
  #key: { bucket: string; key: string; versions: number; bytes: number } | undefined;

  constructor(limits: AlertLimits) {
    this.#limits = limits;
  }

  state(): AlertState {
    return {
      alerts: this.alerts,
      ...(this.#prefixes && { prefixes: this.#prefixes }),
      ...(this.#key && { key: this.#key }),
    };
  }

  restore({ alerts, prefixes, key }: AlertState): void {
    this.alerts.push(...alerts);
    this.#prefixes = prefixes && { ...prefixes, open: [...prefixes.open] };
    this.#key = key && { ...key };
  }

  /** Adds the current version of a key. */
  addObject(recordKey: Buffer): void {
    const [, bucket = '', key = ''] = decodeKey(recordKey).map(String);
    if (this.#prefixes?.bucket !== bucket) {
      this.endObjects();
      this.#prefixes = { bucket, open: [{ prefix: '', folders: 0 }] };
    }
    const { open } = this.#prefixes;
    while (open.length > 1 && !key.startsWith(open.at(-1)?.prefix ?? '')) this.#close(bucket, open.pop());
    for (let from = open.at(-1)?.prefix.length ?? 0; ;) {
      const end = key.indexOf('/', from);
      if (end < 0) return;
      const parent = open.at(-1);
      if (parent !== undefined) parent.folders += 1;
      open.push({ prefix: key.slice(0, end + 1), folders: 0 });
      from = end + 1;
    }
  }

  endObjects(): void {
    const { bucket, open } = this.#prefixes ?? { bucket: '', open: [] };
    for (const prefix of open.toReversed()) this.#close(bucket, prefix);
    this.#prefixes = undefined;
  }

  /** Adds a noncurrent version. The current one of its key counts too, but for its size. */
  addNoncurrent(recordKey: Buffer, size: number, isSameKey: boolean): void {
    if (!isSameKey || this.#key === undefined) {
      this.endVersions();
      const [, bucket = '', key = ''] = decodeKey(recordKey).map(String);
      this.#key = { bucket, key, versions: 1, bytes: 0 };
    }
    this.#key.versions += 1;
    this.#key.bytes += size;
  }

  endVersions(): void {
    const { versions = 0, bytes = 0, bucket = '', key = '' } = this.#key ?? {};
    this.#key = undefined;
    if (versions >= this.#limits.versions) this.#add({ name: 's3:Scanner:ManyVersions', bucket, key });
    if (versions > 0 && bytes >= this.#limits.bytes) this.#add({ name: 's3:Scanner:LargeVersions', bucket, key });
  }

  #close(bucket: string, prefix: OpenPrefix | undefined): void {
    if (prefix === undefined || prefix.folders <= this.#limits.folders) return;
    this.#add({ name: 's3:Scanner:BigPrefix', bucket, key: prefix.prefix });
  }

  #add(alert: ScanAlert): void {
    if (this.alerts.length < MAX_ALERTS) this.alerts.push(alert);
  }
}

/** The findings so far, as JSON. */
export interface AlertState {
  readonly alerts: readonly ScanAlert[];
  readonly prefixes?: { readonly bucket: string; readonly open: readonly OpenPrefix[] };
  readonly key?: { readonly bucket: string; readonly key: string; readonly versions: number; readonly bytes: number };
}

interface OpenPrefix {
  readonly prefix: string;
  folders: number;
}

/** Alerts in a commit. */
const BATCH = 100;

/** Queues the events of the alerts for the targets of their rules. */
export async function reportAlerts(
  context: Pick<ObjectContext, 'records' | 'random' | 'events' | 'clock'>,
  alerts: readonly ScanAlert[],
  bucketOf: (name: string) => BucketRecord | undefined,
): Promise<void> {
  for (let at = 0; at < alerts.length; at += BATCH) {
    const attempt = new AttemptEvents(context.events);
    const { random } = context;
    const put = await attempt.plan(() =>
      alerts.slice(at, at + BATCH).flatMap(({ name, bucket, key }) => {
        const stored = bucketOf(bucket);
        if (stored === undefined) return [];
        return queueEvent({ events: attempt, random }, ruledEvent(context, { names: [name], bucket, key, stored }));
      }),
    );
    if (put.length > 0) await commitOnce(context.records, { put }, random);
    attempt.onCommitted();
  }
}
