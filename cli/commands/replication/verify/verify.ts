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
import { commonPrefix, namesBelow, namesKey } from './expected-versions.ts';
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
  const place = `${bucket.aliasName}/${bucket.bucket}`;
  if (!namesBelow(rules, source.key)) {
    throw new ProgramError(
      'BadArgument',
      `No enabled rule sends what begins with \`${argument}\` to ${place}: \`coffer replicate ls\` shows the prefixes of the rules`,
    );
  }
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
  const reported = new WeakSet<VersionPair>();
  try {
    for await (const [pair, difference] of mapStream(named(pairs, rules), maxCompared, async (pair) => {
      report.expect(pair);
      // A version that one side has not got has no attributes to compare.
      const isSampled = pair.source !== undefined && pair.target !== undefined && sampler.take(pair);
      return [pair, await compareVersion(compared, pair, isSampled)] as const;
    })) {
      if (difference !== undefined) reported.add(pair);
      await report.add(pair, difference);
    }
    report.endListing();
    for await (const [, difference] of mapStream(
      stream(sampler.chosen.filter((pair) => !reported.has(pair))),
      maxCompared,
      async (pair) => [pair, await compareVersion(compared, pair, true)] as const,
    )) {
      await report.addSampled(difference);
    }
  } catch (error) {
    report.interrupt();
    throw error;
  }
  report.end({ url: argument, target: place, arn });
}

/** Leaves out keys that no rule names: nothing says that they are on both sides. */
async function* named(
  pairs: AsyncIterable<VersionPair>,
  rules: Compared['rules'],
): AsyncGenerator<VersionPair, void, undefined> {
  for await (const pair of pairs) if (namesKey(rules, pair.source?.key ?? pair.target?.key ?? '')) yield pair;
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
  /** All versions were compared, and attributes of a sample are read. */
  #isListed = false;

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

  endListing(): void {
    this.#isListed = true;
  }

  /** Says where to go on. */
  interrupt(): void {
    this.#stop();
    const { output } = this.#context;
    if (this.#isListed) {
      const text = 'All versions were compared, but not all attributes of the sample: what differs is above';
      output.data(text, { op: 'verify', completed: false });
      return;
    }
    if (this.#whole === undefined) return;
    const lastKey = this.#whole;
    const text =
      printable(lastKey) === lastKey
        ? `Not all was compared: --start-after ${quoted(lastKey)} goes on after what was, and what differs before it is above`
        : `Not all was compared, and what differs is above: the last key ${printable(lastKey)} cannot be printed as it is, --json has it for --start-after`;
    output.data(text, { op: 'verify', completed: false, lastKey });
  }

  /** @throws ProgramError Reported */
  end(sides: Readonly<Record<'url' | 'target' | 'arn', string>>): void {
    this.#stop();
    const found = kinds.filter((kind) => this.#counts[kind] > 0);
    const compared = `${counted(this.#compared, 'version')} compared with ${sides.target}`;
    const human =
      found.length === 0
        ? `${this.#compared === 0 ? 'Nothing was there to compare' : 'Nothing is missing'}: ${compared}`
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

/** Writes a printable key as a word of a shell. */
function quoted(key: string): string {
  return `'${key.replaceAll("'", String.raw`'\''`)}'`;
}
