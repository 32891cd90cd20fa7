import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { SeededRandom } from '../support/seeded-random.ts';
import { halfMoves, isVersionName } from '../crash/expected.ts';
import type { History, Sighting } from './history.ts';
import type { Shown } from './inspect.ts';
import type { Inspection, Inspector } from './inspector.ts';
import type { Recording } from './record-server.ts';
import { type LeftOut, RecordedDisk } from './recorded-disk.ts';
import { changesOf } from './recording.ts';

export interface PowerCut {
  /** How long the recording was. */
  readonly at: number;
  readonly sighting?: Sighting;
}

export interface Model {
  /** Decides which part of the unflushed survived; none where it is absent. */
  readonly survives?: SeededRandom;
  readonly leftOut?: LeftOut;
}

/** Rebuilds the disk at each cut, in their order, and hands over the data folder that the next start would find. */
export async function atEachCut(
  recording: Recording,
  cuts: readonly PowerCut[],
  model: Model,
  visit: (dataFolder: string, cut: PowerCut) => Promise<void>,
): Promise<void> {
  const disk = new RecordedDisk(recording.base, model.leftOut);
  const changes = changesOf(recording.bytes)[Symbol.iterator]();
  let next = changes.next();
  for (const cut of cuts.toSorted((left, right) => left.at - right.at)) {
    for (; next.done !== true && next.value.end <= cut.at; next = changes.next()) disk.apply(next.value.change);
    const target = mkdtempSync(join(recording.base, '..', 'cut-'));
    disk.writeTo(target, model.survives, next.done === true ? undefined : next.value.change);
    await visit(join(target, 'data'), cut);
    rmSync(target, { recursive: true });
  }
}

/** What the disks at these cuts show that they may not, each as a sentence. */
export async function complaintsAt(
  recording: Recording,
  cuts: readonly PowerCut[],
  inspector: Inspector,
  model: Model = {},
): Promise<string[]> {
  const complaints: string[] = [];
  await atEachCut(recording, cuts, model, async (dataFolder, cut) => {
    complaints.push(...complaintsAbout(await inspector.inspect(dataFolder), recording, cut));
  });
  return complaints;
}

export function complaintsAbout(inspection: Inspection, { history }: Recording, cut: PowerCut): string[] {
  if ('error' in inspection) return [`power cut at ${cut.at}: ${inspection.error}`];
  const { shown, issues } = inspection;
  const known = new Set(history.names);
  const strangers = Object.keys(shown).filter((name) => !known.has(name) && !isOfLostAnswer(name, shown, history, cut));
  const wrong = history.names.filter((key) => !history.allowed(key, cut.at).includes(shown[key]));
  const complaints = issues.map((issue) => `power cut at ${cut.at}: ${issue}`);
  const names = [...strangers, ...wrong].map(
    (key) =>
      `power cut at ${cut.at}: ${key} is ${shown[key] ?? 'absent'}, where ${history.allowed(key, cut.at).map(String).join(' or ')} may be`,
  );
  complaints.push(...names);
  const halves = halfMoves(history.movesAt(cut.at), (name) => shown[name]);
  complaints.push(...halves.map((half) => `power cut at ${cut.at}: ${half}`));
  const { sighting } = cut;
  if (sighting !== undefined && !history.allowedAfterSighting(sighting).includes(shown[sighting.key])) {
    complaints.push(
      `power cut at ${cut.at}: a reader had seen ${sighting.key} as ${sighting.content}, and it is ${shown[sighting.key] ?? 'absent'}`,
    );
  }
  return complaints;
}

/** A version of a write whose answer never came: the client does not know its id. */
function isOfLostAnswer(name: string, shown: Shown, history: History, { at }: PowerCut): boolean {
  if (!isVersionName(name)) return false;
  return history.mayHaveCreated(name.slice(0, name.indexOf('?')), shown[name] ?? '', at);
}

/** Right before and right after each flush has ended, writes by a descriptor that flushes each included: what is durable changes there alone. */
export function flushBoundaries(recording: Recording): readonly PowerCut[] {
  const cuts: PowerCut[] = [];
  let before = 0;
  for (const { change, end } of changesOf(recording.bytes)) {
    if (change.kind === 'sync-end' || (change.kind === 'write' && change.durable))
      cuts.push({ at: before }, { at: end });
    before = end;
  }
  return cuts;
}

/** Before each change. */
export function changeBoundaries(recording: Recording): readonly PowerCut[] {
  const ends = Array.from(changesOf(recording.bytes), ({ end }) => end);
  return [0, ...ends].slice(0, -1).map((at) => ({ at }));
}

/** So many of them, spread evenly, the last included. */
export function spread<T>(all: readonly T[], count: number): readonly T[] {
  if (all.length <= count) return all;
  return Array.from({ length: count }, (_, index) => all[Math.floor(((index + 1) * all.length) / count) - 1]).filter(
    (one) => one !== undefined,
  );
}
