import { mapStream } from '../../../../platform/async/concurrency.ts';
import { ProgramError } from '../../../../platform/errors/program-error.ts';
import { parseTarget, type Target } from '../../../config/target.ts';
import { headBucket } from '../../../s3/buckets.ts';
import { presignedUrl } from '../../../s3/presigned-url.ts';
import { headObject } from '../../../s3/objects.ts';
import { getTags } from '../../../s3/object-settings.ts';
import { printable } from '../../../../platform/text/printable.ts';
import type { Context } from '../../context.ts';
import { asFolder, entryPages, requirePlace } from '../entries/entries.ts';
import { Failures, readablePages, type Entry } from '../entries/entry.ts';
import { entryAt } from '../entries/entry-at.ts';
import { watchTarget, type WatchedTarget } from '../changes/watch-target.ts';
import { fillTemplate, runCommand, splitWords } from './find-output.ts';
import { findTest, matchesFields, parseFieldTests, type FindTestOptions } from './find-tests.ts';

interface FindOptions extends FindTestOptions {
  readonly versions?: boolean;
  readonly exec?: string;
  readonly print?: string;
  readonly metadata?: readonly string[];
  readonly tags?: readonly string[];
  readonly watch?: boolean;
}

/** Concurrent requests for tags and metadata. */
const parallel = 8;

/** The limit of S3 for a presigned URL, in seconds. */
const urlExpires = 604_800;

/** Prints what matches all flags, or runs a command for each. */
export async function find(context: Context, [argument = '']: readonly string[], options: FindOptions): Promise<void> {
  const target = parseTarget(argument, await context.aliases());
  const test = findTest(options, new Date());
  // A script leaves a variable empty for no command.
  const words = options.exec === undefined || options.exec === '' ? undefined : splitWords(options.exec);
  const fields = await fieldTest(context, target, options);
  await checkExists(context, target, options);
  // The client has renewed temporary credentials, which links need.
  const linked = target.kind === 'local' ? target : { ...target, alias: (await context.client(target.alias)).alias };
  const failures = new Failures(context);
  // Watching begins first, so that no new file is lost.
  const watched = options.watch === true ? await watchTarget(context, asFolder(target)) : undefined;
  const listing = { recursive: true, versions: options.versions };
  const found = readablePages(context, entryPages(context, target, listing), failures);
  const all = watched === undefined ? found : joined(found, newEntries(context, asFolder(target), watched));
  const entries = matching(all, test);
  const tested = fields === undefined ? entries : chosen(entries, fields, watched === undefined ? parallel : 1);
  for await (const entry of tested) {
    if (words === undefined) await print(context, linked, entry, options.print ?? '{}');
    else {
      const filled = words.map((word) => fillTemplate(word, entry, () => urlOf(linked, entry)));
      await runCommand(context, filled).catch((error: unknown) => failures.report(error, 'Unable to run the command'));
    }
  }
  failures.throwIfAny();
}

async function* joined(...streams: readonly AsyncIterable<readonly Entry[]>[]): AsyncGenerator<readonly Entry[]> {
  for (const stream of streams) yield* stream;
}

/** Yields what changes, until the command is interrupted. */
async function* newEntries(
  context: Context,
  place: Target,
  { queue, close }: WatchedTarget,
): AsyncGenerator<readonly Entry[]> {
  try {
    for await (const { name } of queue.changes(context.signal)) {
      const entry = await entryAt(context, place, name);
      if (entry !== undefined) yield [entry];
    }
    throw new ProgramError('Failed', 'Too much changed at once: begin again');
  } finally {
    close();
  }
}

async function* matching(
  pages: AsyncIterable<readonly Entry[]>,
  test: (entry: Entry) => boolean,
): AsyncGenerator<Entry> {
  for await (const page of pages) {
    for (const entry of page) if (entry.version?.deleteMarker !== true && test(entry)) yield entry;
  }
}

/** Yields the entries that a test with a request chooses, in their order. */
async function* chosen(
  entries: AsyncIterable<Entry>,
  fields: (entry: Entry) => Promise<boolean>,
  max: number,
): AsyncGenerator<Entry> {
  const tested = mapStream(entries, max, async (entry) => ({ entry, isMatch: await fields(entry) }));
  for await (const { entry, isMatch } of tested) if (isMatch) yield entry;
}

/** Returns the test that needs a request for each object. */
async function fieldTest(
  context: Context,
  target: Target,
  options: FindOptions,
): Promise<((entry: Entry) => Promise<boolean>) | undefined> {
  const tags = parseFieldTests('--tags', options.tags ?? []);
  const metadata = parseFieldTests('--metadata', options.metadata ?? []);
  if (tags.length + metadata.length === 0) return undefined;
  if (target.kind === 'local') throw new ProgramError('BadArgument', 'Files have no tags or metadata');
  const client = await context.client(target.alias);
  return async ({ bucket, key, version }) => {
    const ref = { bucket, key, versionId: version?.id };
    if (metadata.length > 0) {
      const { headers } = await headObject(client, ref);
      const shown = Object.entries(headers).map(([name, value]) => [name.replace('x-amz-meta-', ''), String(value)]);
      if (!matchesFields(metadata, Object.fromEntries(shown))) return false;
    }
    return tags.length === 0 || matchesFields(tags, await getTags(client, ref));
  };
}

/** A bucket, folder or prefix that is not there is an error: nothing could match. */
async function checkExists(context: Context, target: Target, { versions }: FindOptions): Promise<void> {
  if (target.kind === 'local' || target.key !== '') await requirePlace(context, target, { versions });
  else if (target.bucket !== '') await headBucket(await context.client(target.alias), target.bucket);
}

async function print({ output }: Context, target: Target, entry: Entry, template: string): Promise<void> {
  const { kind, modified, size, etag, version } = entry;
  const key = template === '{}' ? entry.display : fillTemplate(template, entry, () => urlOf(target, entry));
  const versionId = version && { versionId: version.id };
  await output.line(printable(key), { type: kind, lastModified: modified, size, key, etag, ...versionId });
}

function urlOf(target: Target, { bucket, key, version }: Entry): string {
  if (target.kind === 'local') throw new ProgramError('BadArgument', '`{url}` needs objects of a server');
  const ref = { bucket, key, versionId: version?.id };
  return presignedUrl(target.alias, ref, { now: new Date(), expires: urlExpires, region: undefined }).href;
}
