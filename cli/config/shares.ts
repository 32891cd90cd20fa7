import { chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { removeUnfinished, writeFileAtomically } from '../../platform/files/atomic-file.ts';
import { withFileLock } from './file-lock.ts';
import { ProgramError } from '../../platform/errors/program-error.ts';

/** A link that was given to others, as stored in `share/downloads.json` and `share/uploads.json`. */
export interface Share {
  /** The address of the object, or of the prefix. */
  readonly url: string;
  /** The address or the command line that was shared. */
  readonly share: string;
  readonly versionId: string;
  readonly created: Date;
  /** Milliseconds. */
  readonly expires: number;
  readonly contentType: string;
}

export type ShareKind = 'download' | 'upload';

/** Reads the shares that have not expired at `now`. */
export async function readShares(folder: string, kind: ShareKind, now: Date): Promise<readonly Share[]> {
  const path = pathOf(folder, kind);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw new ProgramError('BadConfig', `Unable to read \`${path}\``, { cause: error });
  }
  return parse(text, path).filter(({ created, expires }) => created.getTime() + expires > now.getTime());
}

/** Adds shares to those of a kind, and removes the expired ones. Only the owner may read the file, since links need no keys. */
export async function addShares(
  { folder, signal }: { readonly folder: string; readonly signal: AbortSignal },
  kind: ShareKind,
  added: readonly Share[],
  now: Date,
): Promise<void> {
  const path = pathOf(folder, kind);
  await withFileLock(path, signal, async (expectHeld) => {
    const all = new Map([...(await readShares(folder, kind, now)), ...added].map((share) => [share.share, share]));
    const shares = [...all.values()].map(({ url, share, versionId, created, expires, contentType }) => [
      share,
      { share: url, versionID: versionId, date: created, expiry: expires * 1e6, contentType },
    ]);
    await chmod(join(folder, 'share'), 0o700);
    const document = JSON.stringify({ version: '1', shares: Object.fromEntries(shares) as unknown });
    await removeUnfinished(path);
    await expectHeld();
    await writeFileAtomically(path, `${document}\n`, { mode: 0o600 });
  });
}

function pathOf(folder: string, kind: ShareKind): string {
  return join(folder, 'share', `${kind}s.json`);
}

function parse(text: string, path: string): readonly Share[] {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (error) {
    throw new ProgramError('BadConfig', `\`${path}\` is not valid JSON`, { cause: error });
  }
  const shares = isRecord(document) && isRecord(document['shares']) ? document['shares'] : {};
  return Object.entries(shares).flatMap(([share, entry]) => {
    if (!isRecord(entry)) return [];
    const { share: url = '', versionID = '', date = '', expiry = 0, contentType = '' } = entry;
    const created = new Date(String(date));
    const expires = Number(expiry) / 1e6;
    if (Number.isNaN(created.getTime()) || Number.isNaN(expires)) return [];
    return [
      { url: String(url), share, versionId: String(versionID), created, expires, contentType: String(contentType) },
    ];
  });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
