import { createHash } from 'node:crypto';
import { hasherOf } from '../../server/objects/checksums/hasher.ts';
import type { Checksum } from '../../server/objects/object-layer.ts';

/** One form of one digest of a content that must not be readable. */
interface Needle {
  readonly what: string;
  readonly bytes: Buffer;
}

const algorithms: readonly Checksum['algorithm'][] = ['CRC32', 'CRC32C', 'CRC64NVME', 'SHA1', 'SHA256'];

/**
 * Finds the digests of contents: MD5, CRC32, CRC32C, CRC64NVME, SHA-1, SHA-256, each as bytes, hexadecimal and base64. Four bytes of a CRC
 * are found by chance once in 4 GiB for each content, in whatever is random: see `certain`.
 */
export class DigestSearch {
  /** By their first four bytes. */
  readonly #needles = new Map<number, Needle[]>();

  constructor(contents: Iterable<readonly [name: string, content: Buffer]>) {
    for (const [name, content] of contents) {
      this.#add(`MD5 of ${name}`, createHash('md5').update(content).digest());
      for (const algorithm of algorithms) {
        const hasher = hasherOf(algorithm);
        hasher.update(content);
        this.#add(`${algorithm} of ${name}`, hasher.digest());
      }
    }
  }

  /** What was found, each once. */
  in(haystack: Buffer): Set<string> {
    const found = new Set<string>();
    for (let at = 0; at + 4 <= haystack.length; at += 1) {
      for (const { what, bytes } of this.#needles.get(haystack.readUInt32LE(at)) ?? []) {
        if (haystack.subarray(at, at + bytes.length).equals(bytes)) found.add(what);
      }
    }
    return found;
  }

  #add(what: string, digest: Buffer): void {
    const hex = digest.toString('hex');
    const base64 = digest.toString('base64').replace(/=+$/, '');
    const forms: Record<string, Buffer> = {
      raw: digest,
      hexadecimal: Buffer.from(hex),
      'upper-case hexadecimal': Buffer.from(hex.toUpperCase()),
      base64: Buffer.from(base64),
    };
    for (const [form, bytes] of Object.entries(forms)) {
      const first = bytes.readUInt32LE(0);
      this.#needles.set(first, [...(this.#needles.get(first) ?? []), { what: `${what}, ${form}`, bytes }]);
    }
  }
}

/**
 * Those that are not there by chance: of the CRCs with 32 bits, whatever their form, up to `byChance` are left out. Of a thousand contents one
 * or two are in the ids and nonces of a store. Four bytes alone never count.
 */
export function certain(found: ReadonlySet<string>, byChance = 0): string[] {
  const short = [...found].filter((what) => /^CRC32C? /.test(what));
  const rest = [...found].filter((what) => !short.includes(what));
  const written = short.filter((what) => !what.endsWith(', raw'));
  const told = written.length > byChance ? written : [];
  return [...rest, ...told].toSorted();
}
