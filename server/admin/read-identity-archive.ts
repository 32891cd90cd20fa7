import { z } from 'zod';
import { AdminError } from './admin-error.ts';
import { type Archive, archiveFiles, archiveLimits, archiveSchemas } from './identity-archive.ts';
import { readZip, ZipError } from './zip/read-zip.ts';
import type { ZipEntry } from './zip/zip-format.ts';

/** Rejects what is no archive of identities before anything is changed. Files that it does not know it leaves alone. */
export function readIdentityArchive(bytes: Buffer): Archive {
  const entries = unpacked(bytes);
  const found: Record<string, unknown> = {};
  for (const [part, name] of Object.entries(archiveFiles)) {
    const entry = entries.find((one) => one.name === name);
    // The parts and their schemas have the same names, which `Object.entries` forgets.
    if (entry !== undefined) found[part] = checked(entry, archiveSchemas[part as keyof typeof archiveFiles]);
  }
  if (Object.keys(found).length === 0) {
    throw refused(`it holds none of the files of identities, such as ${archiveFiles.users}`);
  }
  return found;
}

function unpacked(bytes: Buffer): ZipEntry[] {
  try {
    return readZip(bytes, archiveLimits);
  } catch (error) {
    if (error instanceof ZipError) throw refused(error.message, error);
    throw error;
  }
}

function checked(entry: ZipEntry, schema: z.ZodType): unknown {
  let json: unknown;
  try {
    json = JSON.parse(entry.content.toString());
  } catch {
    // What the parser says may repeat a secret.
    throw refused(`${entry.name} is no JSON`);
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  throw refused(`${entry.name} is not as expected: ${z.prettifyError(parsed.error)}`);
}

function refused(why: string, cause?: unknown): AdminError {
  return new AdminError('XCofferInvalidRequest', `The archive cannot be imported: ${why}.`, { cause });
}
