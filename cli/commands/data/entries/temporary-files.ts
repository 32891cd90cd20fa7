import { createHash } from 'node:crypto';

const suffix = '.part.coffer';
const pattern = /^\..+\.[0-9a-f]{16}\.part\.coffer$/;

/** The longest name that is repeated in the name of its temporary file, in bytes. A name has at most 255. */
const maxRepeated = 200;

/** The name of the file in which a download is until it is complete. `identity` describes the source. */
export function temporaryName(name: string, identity: string): string {
  return `${temporaryPrefix(name)}${hashOf(identity).slice(0, 16)}${suffix}`;
}

/** The beginning of the names of all temporary files for a name. */
export function temporaryPrefix(name: string): string {
  return `.${Buffer.byteLength(name) <= maxRepeated ? name : hashOf(name).slice(0, 32)}.`;
}

/** Reports whether a file is an incomplete download. Commands that walk through folders leave it out. */
export function isTemporaryName(name: string): boolean {
  return name.endsWith(suffix) && pattern.test(name);
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
