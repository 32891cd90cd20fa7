import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { DataFolderError } from './data-folder-error.ts';
import { writeDurably } from './durable-file.ts';

/** The format of data folders this server writes. */
export const FORMAT = 3;

/** Brings a folder from one format to the next. Run again after a crash, it must end the same. */
export type Migration = (folder: string) => Promise<void>;

/** By the format they start from. */
const migrations: ReadonlyMap<number, Migration> = new Map([
  // Large records are in pieces (`lmdb/stored-value.ts`) from format 2 on: whole ones are read as before, and rewritten when they change.
  [1, () => Promise.resolve()],
  // Objects' records are of format 3, and blobs have records of their block sums: older ones are read as before.
  [2, () => Promise.resolve()],
]);

const schema = z.object({ format: z.int().min(1), deploymentId: z.uuid() });

export type FolderFormat = z.infer<typeof schema>;

/** What the folder's format file says; undefined when there is none. */
export async function readFormat(file: string): Promise<FolderFormat | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    throw new DataFolderError(`${file} is not a format file of Coffer: restore it from a backup of this folder`, {
      cause: error,
    });
  }
}

/** A format file for a new folder, with a deployment ID of its own. */
export async function createFormat(file: string): Promise<FolderFormat> {
  const format = { format: FORMAT, deploymentId: randomUUID() };
  await writeFormat(file, format);
  return format;
}

/** Brings an older folder forward, one format at a time; throws `DataFolderError` for a newer one. */
export async function bringForward(
  folder: string,
  file: string,
  found: FolderFormat,
  supported: { readonly format: number; readonly migrations: ReadonlyMap<number, Migration> } = {
    format: FORMAT,
    migrations,
  },
): Promise<void> {
  if (found.format > supported.format) {
    throw new DataFolderError(
      `the data folder ${folder} has format ${found.format}, this server knows formats up to ${supported.format}: ` +
        'start the newer server that wrote it',
    );
  }
  for (let format = found.format; format < supported.format; format += 1) {
    const migrate = supported.migrations.get(format);
    if (migrate === undefined)
      throw new DataFolderError(`no way leads from format ${format} of the data folder ${folder} to ${format + 1}`);
    await migrate(folder);
    await writeFormat(file, { ...found, format: format + 1 });
  }
}

function writeFormat(file: string, format: FolderFormat): Promise<void> {
  return writeDurably(file, `${JSON.stringify(format, undefined, 2)}\n`);
}
