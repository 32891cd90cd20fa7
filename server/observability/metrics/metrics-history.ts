import type { MetricsAnswer, MetricsAnswerPoint } from '../../../protocol/console/operations-answers.ts';
import { decodeRecord, encodeRecord } from '../../objects/records/record-format.ts';
import { commitOnce } from '../../store/commits.ts';
import { decodeKey, endOf, key, prefixOf } from '../../store/keys.ts';
import type { RecordStore } from '../../store/record-store.ts';
import {
  addPoint,
  at,
  type CounterReading,
  firstByteMs,
  type MetricsPoint,
  pointBetween,
  pointLength,
} from './metrics-point.ts';

/** Milliseconds of a step, and of a slot: the steps of one record. */
export const stepMs = 10_000;
const slotMs = 600_000;
const stepsPerSlot = slotMs / stepMs;
/** Milliseconds for which the steps are kept. */
export const keptMs = 86_400_000;
/** Milliseconds between writes of the current slot: at most these are lost by a crash. */
const writeMs = 60_000;
/** The maximum number of points in an answer. */
const maxPoints = 360;

const prefix = 'metrics';

/** The steps of one slot; null for those in which the server did not run. */
type Slot = readonly (MetricsPoint | null)[];

interface HistoryOptions {
  readonly records: RecordStore;
  /** The name of this server. */
  readonly server: () => string;
  readonly read: () => Promise<CounterReading>;
  readonly random: (size: number) => Buffer;
  readonly clock?: () => number;
}

/**
 * The metrics of the last day in steps of ten seconds, without a Prometheus. Each server writes its own steps, once a minute, into one record
 * for ten minutes (about 4 KiB), and removes all records that are older than a day. Any server can show all of them.
 */
export class MetricsHistory {
  readonly #options: HistoryOptions;
  readonly #clock: () => number;
  #before: { readonly step: number; readonly reading: CounterReading } | undefined;
  #slot: { readonly number: number; readonly points: (MetricsPoint | null)[] } | undefined;
  #writtenAt = -Infinity;

  constructor(options: HistoryOptions) {
    this.#options = options;
    this.#clock = options.clock ?? Date.now;
  }

  /** Takes a reading; it is called once in each step. */
  async take(): Promise<void> {
    const reading = await this.#options.read();
    const step = Math.floor(this.#clock() / stepMs);
    const before = this.#before;
    this.#before = { step, reading };
    // After a pause of the machine the difference would look like a peak.
    if (before === undefined || step - before.step > 3 || step <= before.step) return;
    const point = pointBetween(before.reading, reading);
    // The step that ended just now.
    const ended = step - 1;
    const number = Math.floor(ended / stepsPerSlot);
    if (this.#slot?.number !== number) await this.#begin(number);
    if (this.#slot !== undefined) this.#slot.points[ended % stepsPerSlot] = point;
    if (this.#clock() - this.#writtenAt >= writeMs) await this.write();
  }

  /** Writes the current slot. */
  async write(): Promise<void> {
    if (this.#slot === undefined) return;
    const { records, random, server } = this.#options;
    this.#writtenAt = this.#clock();
    const value = encodeRecord({ points: this.#slot.points });
    await commitOnce(records, { put: [{ key: slotKey(this.#slot.number, server()), value }] }, random);
  }

  /** Returns the metrics of the last milliseconds, of one server or of all together. */
  async read(spanMs: number, server?: string): Promise<MetricsAnswer> {
    const last = Math.floor(this.#clock() / stepMs);
    const perPoint = Math.max(1, Math.ceil(spanMs / stepMs / maxPoints));
    const first = Math.floor((last - Math.ceil(spanMs / stepMs)) / perPoint) * perPoint;
    const bins = new Bins(first, last, perPoint);
    const servers = new Set<string>();
    const range = { start: prefixOf(prefix, slotText(Math.floor(first / stepsPerSlot))), end: endOf(prefixOf(prefix)) };
    for await (const item of this.#options.records.scan(range)) {
      if (item.kind !== 'entry') continue;
      const [, slot = '', name = ''] = decodeKey(item.key).map(String);
      servers.add(name);
      const own = name === this.#options.server() && Number(slot) === this.#slot?.number;
      if (own || (server !== undefined && server !== name)) continue;
      const { points } = decodeRecord(item.value, 'the metrics') as { readonly points: Slot };
      bins.add(name, Number(slot) * stepsPerSlot, points);
    }
    const own = this.#options.server();
    servers.add(own);
    if (this.#slot !== undefined && (server === undefined || server === own)) {
      bins.add(own, this.#slot.number * stepsPerSlot, this.#slot.points);
    }
    return { stepMs: perPoint * stepMs, servers: [...servers].sort(), points: bins.points() };
  }

  /** Begins a slot with what an earlier process of this server wrote, and removes the records of the day before. */
  async #begin(number: number): Promise<void> {
    const { records, random, server } = this.#options;
    if (this.#slot !== undefined) await this.write().catch(() => undefined);
    const entry = await records.get(slotKey(number, server()));
    const stored = entry && (decodeRecord(entry.value, 'the metrics') as { readonly points: Slot }).points;
    this.#slot = { number, points: Array.from({ length: stepsPerSlot }, (_, index) => stored?.[index] ?? null) };
    const end = prefixOf(prefix, slotText(number - keptMs / slotMs));
    const old: Buffer[] = [];
    for await (const item of records.scan({ start: prefixOf(prefix), end, limit: 1_000 })) {
      if (item.kind === 'entry') old.push(item.key);
    }
    if (old.length > 0) await commitOnce(records, { delete: old }, random);
  }
}

/** Sums of steps by points of an answer. */
class Bins {
  readonly #first: number;
  readonly #perPoint: number;
  readonly #sums: { sum: number[]; readonly memory: Map<string, number>; steps: Set<number> }[];

  constructor(first: number, last: number, perPoint: number) {
    this.#first = first;
    this.#perPoint = perPoint;
    const count = Math.ceil((last - first) / perPoint);
    this.#sums = Array.from({ length: count }, () => ({ sum: [], memory: new Map(), steps: new Set() }));
  }

  add(server: string, from: number, points: Slot): void {
    for (const [index, point] of points.entries()) {
      if (point === null) continue;
      const step = from + index;
      const bin = step < this.#first ? undefined : this.#sums[Math.floor((step - this.#first) / this.#perPoint)];
      if (bin === undefined) continue;
      addPoint(bin.sum, point);
      bin.memory.set(server, Math.max(bin.memory.get(server) ?? 0, point[at.memoryMib] ?? 0));
      bin.steps.add(step);
    }
  }

  points(): readonly MetricsAnswerPoint[] {
    return this.#sums.map(({ sum, memory, steps }, index) => {
      const time = (this.#first + index * this.#perPoint) * stepMs;
      if (sum.length < pointLength) return { at: time };
      const seconds = (steps.size * stepMs) / 1_000;
      const rate = (position: number) => (sum[position] ?? 0) / seconds;
      const [median, p99] = [firstByteMs(sum, 0.5), firstByteMs(sum, 0.99)];
      return {
        at: time,
        values: {
          requests: rate(at.requests),
          clientErrors: rate(at.clientErrors),
          serverErrors: rate(at.serverErrors),
          canceled: rate(at.canceled),
          received: rate(at.received),
          sent: rate(at.sent),
          cpus: rate(at.cpuMs) / 1_000,
          memoryMib: [...memory.values()].reduce((all, one) => all + one, 0),
          ...(median === undefined || p99 === undefined ? {} : { median, p99 }),
        },
      };
    });
  }
}

function slotKey(number: number, server: string): Buffer {
  return key(prefix, slotText(number), server);
}

/** Returns a text of fixed width, so that keys are in the order of time. */
function slotText(number: number): string {
  return String(Math.max(0, number)).padStart(10, '0');
}
