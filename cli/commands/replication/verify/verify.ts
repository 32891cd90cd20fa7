import { ProgramError } from '../../../../platform/errors/program-error.ts';
import { counted } from '../../../../platform/text/message-text.ts';
import { printable } from '../../../../platform/text/printable.ts';
import { mapStream } from '../../../../platform/async/concurrency.ts';
import { listVersions } from '../../../s3/list-objects.ts';
import { Progress } from '../../../terminal/progress.ts';
import { adminOf } from '../../admin-client.ts';
import type { Context } from '../../context.ts';
import { bucketOf } from '../../bucket-of.ts';
import { type Compared, compareVersion, type Difference } from './compare-versions.ts';
import { commonPrefix } from './expected-versions.ts';
import { joinVersions, type VersionPair } from './join-versions.ts';
import { otherSideOf } from './other-side.ts';
import { parseSample, Sampler } from './sample.ts';
import { openSide } from './version-attributes.ts';

interface VerifyOptions {
  readonly sample?: string;
  readonly startAfter?: string;
}

/** Versions that are compared at the same time: each takes up to eight requests. */
const maxCompared = 16;

/** Compares the versions of a replicated bucket with those of its target. @throws ProgramError Reported where they differ */
export async function verifyReplication(
  context: Context,
  [argument = '', other]: readonly string[],
  { sample, startAfter }: VerifyOptions,
): Promise<void> {
  const sampler = new Sampler<VersionPair>(parseSample(sample), Math.random);
  const { client, target: source } = await bucketOf(context, argument);
  const { arn, bucket, rules } = await otherSideOf(context, client, source, other);
  const there = await context.client(bucket.alias);
  const compared: Compared = {
    source: await openSide(client, source.bucket),
    target: await openSide(there, bucket.bucket),
    arn,
    rules,
    admin: await adminOf(context, source.aliasName),
  };
  const common = commonPrefix(rules);
  const prefix = common.startsWith(source.key) ? common : source.key;
  const listing = { prefix, recursive: true, startAfter } as const;
  const pairs = joinVersions(
    listVersions(client, { ...listing, bucket: source.bucket }),
    listVersions(there, { ...listing, bucket: bucket.bucket }),
  );
  const report = new Report(context);
  try {
    for await (const [pair, difference] of mapStream(pairs, maxCompared, async (pair) => {
      report.expect(pair);
      return [pair, await compareVersion(compared, pair, sampler.take(pair))] as const;
    })) {
      await report.add(pair, difference);
    }
    for await (const [, difference] of mapStream(
      stream(sampler.chosen),
      maxCompared,
      async (pair) => [pair, await compareVersion(compared, pair, true)] as const,
    )) {
      await report.addSampled(difference);
    }
  } catch (error) {
    report.interrupt();
    throw error;
  }
  report.end({ url: argument, target: `${bucket.aliasName}/${bucket.bucket}`, arn });
}

async function* stream<Item>(items: readonly Item[]): AsyncGenerator<Item, void, undefined> {
  for (const item of items) yield await Promise.resolve(item);
}

const kinds = ['missing', 'differs', 'extra', 'pending', 'unknown'] as const;

/** Prints what differs as it is found, and the sums at the end. */
class Report {
  readonly #context: Context;
  readonly #progress: Progress;
  readonly #counts = { missing: 0, differs: 0, extra: 0, pending: 0, unknown: 0 };
  #compared = 0;
  /** The key of the last version. */
  #key: string | undefined;
  /** The last key of which all versions were compared. */
  #whole: string | undefined;

  constructor(context: Context) {
    const { io, output, quiet } = context;
    this.#context = context;
    this.#progress = new Progress(io, output, io.stdout.isTTY === true && !quiet && !output.json);
  }

  expect({ source, target }: VersionPair): void {
    this.#progress.expect(source?.key ?? target?.key ?? '', source?.size ?? target?.size ?? 0);
  }

  async add({ source, target }: VersionPair, difference: Difference | undefined): Promise<void> {
    const key = source?.key ?? target?.key;
    if (key !== this.#key) this.#whole = this.#key;
    this.#key = key;
    this.#compared += 1;
    this.#progress.add(source?.size ?? target?.size ?? 0);
    await this.addSampled(difference);
  }

  async addSampled(difference: Difference | undefined): Promise<void> {
    if (difference === undefined) return;
    const { kind, ...fields } = difference;
    this.#counts[kind] += 1;
    await this.#context.output.line(textOf(difference), { op: 'verify', difference: kind, ...fields });
  }

  /** Says where to go on. */
  interrupt(): void {
    this.#stop();
    if (this.#whole === undefined) return;
    const lastKey = this.#whole;
    const text = `Not all was compared: --start-after ${quoted(lastKey)} goes on after what was, and what differs before it is above`;
    this.#context.output.data(text, { op: 'verify', completed: false, lastKey });
  }

  /** @throws ProgramError Reported */
  end(sides: Readonly<Record<'url' | 'target' | 'arn', string>>): void {
    this.#stop();
    const found = kinds.filter((kind) => this.#counts[kind] > 0);
    const compared = `${counted(this.#compared, 'version')} compared with ${sides.target}`;
    const human =
      found.length === 0
        ? `Nothing is missing: ${compared}`
        : `${found.map((kind) => `${this.#counts[kind]} ${kind}`).join(', ')}: ${compared}`;
    const { output } = this.#context;
    output.data(human, { op: 'verify', completed: true, ...sides, compared: this.#compared, ...this.#counts });
    if (found.length > 0) throw new ProgramError('Reported', human);
  }

  #stop(): void {
    this.#progress.stop();
  }
}

function textOf({ kind, key, versionId, deleteMarker, fields, state, reason }: Difference): string {
  const what = deleteMarker ? ', a delete marker' : '';
  const differing = ['version', 'removal'].includes(fields.join()) ? '' : `: ${fields.join(', ')}`;
  const said = [state, reason === undefined ? undefined : printable(reason)].filter((one) => one !== undefined);
  const why = said.length === 0 ? '' : ` (${said.join(': ')})`;
  return `${kind.padEnd(7)} ${printable(key)} ${printable(versionId)}${what}${differing}${why}`;
}

/** Writes a key as a word of a shell. */
function quoted(key: string): string {
  return `'${printable(key).replaceAll("'", String.raw`'\''`)}'`;
}
