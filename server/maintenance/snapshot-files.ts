import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { z } from 'zod';
import { checkpointName, markerName } from '../store/blobs-marker.ts';
import { RECORD_FILE } from '../store/lmdb/environment.ts';
import type { RecordCount } from '../store/record-counts.ts';

/** The file of a snapshot that says what is in it. */
export const SNAPSHOT_FILE = 'snapshot.json';

/** The small files of a snapshot, each with its checksum. The records have the checksums of the bodies. */
const smallFiles = [
  'format.json',
  join('records', RECORD_FILE),
  join('blobs', markerName),
  join('blobs', checkpointName),
];

const schema = z.object({
  taken: z.iso.datetime().optional(),
  deploymentId: z.string().optional(),
  /** Records by their kind. */
  records: z.record(z.string(), z.number()).optional(),
  files: z.record(z.string(), z.object({ size: z.int(), sha256: z.string() })).optional(),
  /** The files of bodies: how many, and a checksum of their names in order. */
  bodies: z.object({ files: z.int(), names: z.string() }).optional(),
});

type SnapshotAbout = z.infer<typeof schema>;

/** Describes the files of a snapshot that is complete. */
export async function describeSnapshot(
  folder: string,
  counts: readonly RecordCount[],
): Promise<Required<Pick<SnapshotAbout, 'records' | 'files' | 'bodies'>>> {
  const files: Record<string, { size: number; sha256: string }> = {};
  for (const name of smallFiles) {
    const found = await checksumOf(join(folder, name));
    if (found !== undefined) files[name] = found;
  }
  const records: Record<string, number> = {};
  for (const { group, records: count } of counts) {
    const kind = group.toString('latin1').split('\0')[0] ?? '';
    records[kind] = (records[kind] ?? 0) + count;
  }
  return { records, files, bodies: await bodiesOf(folder) };
}

/** Reads what a snapshot says about itself. Returns undefined where there is no such file. Throws `SyntaxError` or `ZodError` for another. */
export async function readSnapshotAbout(folder: string): Promise<SnapshotAbout | undefined> {
  let text: string;
  try {
    text = await readFile(join(folder, SNAPSHOT_FILE), 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  return schema.parse(JSON.parse(text));
}

/** Compares the files of a snapshot with what it says about them. Returns what differs, or undefined where it says nothing. */
export async function snapshotDifferences(folder: string): Promise<readonly string[] | undefined> {
  let about: SnapshotAbout | undefined;
  try {
    about = await readSnapshotAbout(folder);
  } catch {
    return [`${SNAPSHOT_FILE} cannot be read`];
  }
  if (about?.files === undefined) return undefined;
  const differences: string[] = [];
  for (const [name, { size, sha256 }] of Object.entries(about.files)) {
    const found = await checksumOf(join(folder, name));
    if (found === undefined) differences.push(`${name} is missing`);
    else if (found.size !== size) differences.push(`${name} has ${found.size} bytes instead of ${size}`);
    else if (found.sha256 !== sha256) differences.push(`${name} does not have its checksum`);
  }
  for (const name of smallFiles) {
    if (about.files[name] === undefined && (await checksumOf(join(folder, name))) !== undefined) {
      differences.push(`${name} is not part of the snapshot`);
    }
  }
  const bodies = await bodiesOf(folder);
  if (about.bodies !== undefined && bodies.names !== about.bodies.names) {
    differences.push(
      bodies.files === about.bodies.files
        ? 'the files of bodies are others'
        : `there are ${bodies.files} files of bodies instead of ${about.bodies.files}`,
    );
  }
  return differences;
}

async function checksumOf(path: string): Promise<{ readonly size: number; readonly sha256: string } | undefined> {
  const hash = createHash('sha256');
  let size = 0;
  try {
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      hash.update(chunk);
      size += chunk.length;
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  return { size, sha256: hash.digest('hex') };
}

async function bodiesOf(folder: string): Promise<{ readonly files: number; readonly names: string }> {
  const blobs = join(folder, 'blobs');
  const found = await readdir(blobs, { recursive: true, withFileTypes: true }).catch(() => []);
  const names = found
    .filter((entry) => entry.isFile() && /^[0-9a-f]{16,32}$/.test(entry.name))
    .map((entry) => join(relative(blobs, entry.parentPath), entry.name))
    .sort();
  return { files: names.length, names: createHash('sha256').update(names.join('\n')).digest('hex') };
}
