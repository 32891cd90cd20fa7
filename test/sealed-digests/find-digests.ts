import { createHash, randomInt } from 'node:crypto';
import { hasherOf } from '../../platform/checksums/hashers.ts';
import type { Checksum } from '../../server/objects/contract/object-layer.ts';

/** One form of one digest of a content that must not be readable. */
interface Needle {
  readonly what: string;
  readonly bytes: Buffer;
  /** Only a whole token counts: the bytes before and after are none of these. */
  readonly alphabet?: RegExp;
}

/** Values of 32 bits as they are, in both orders of their bytes: in random bytes they are found by chance. */
interface ShortFindings {
  /** Different values. */
  readonly values: number;
  /** Places that were searched, those of zeros left out. */
  readonly places: number;
  readonly hits: readonly string[];
  /** As many random values, searched with them. */
  readonly control: number;
  /** More hits than this come by chance once in a million searches. */
  readonly bound: number;
}

const algorithms: readonly Checksum['algorithm'][] = ['CRC32', 'CRC32C', 'CRC64NVME', 'SHA1', 'SHA256'];

const computed = new WeakMap<Buffer, readonly (readonly [algorithm: string, digest: Buffer])[]>();

/** The digests of a content, computed once: the searches of a file look for the same ones of megabytes. */
function digestsOf(content: Buffer): readonly (readonly [algorithm: string, digest: Buffer])[] {
  const known = computed.get(content);
  if (known !== undefined) return known;
  const digests = algorithms.map((algorithm) => {
    const hasher = hasherOf(algorithm);
    hasher.update(content);
    return [algorithm, hasher.digest()] as const;
  });
  const all = [['MD5', createHash('md5').update(content).digest()] as const, ...digests];
  computed.set(content, all);
  return all;
}

/**
 * Finds the digests of contents: MD5, CRC32, CRC32C, CRC64NVME, SHA-1, SHA-256, each as bytes, hexadecimal and base64, and CRCs as decimal
 * numbers too. CRCs of 32 bits written as text count as whole tokens: as such they do not come by chance.
 */
export class DigestSearch {
  /** By their first four bytes. */
  readonly #needles = new Map<number, Needle[]>();
  /** A bit for the first three bytes of each: most places are passed over without a look at the map. */
  readonly #begins = new Uint8Array(2 ** 21);
  /** The same for the first two bytes, small enough for the first cache of a processor. */
  readonly #pairs = new Uint8Array(2 ** 13);
  readonly #short = new Map<number, string>();
  readonly #control = new Set<number>();
  readonly #found = new Set<string>();
  readonly #shortFound = new Set<number>();
  #places = 0;

  constructor(contents: Iterable<readonly [name: string, content: Buffer]>) {
    for (const [name, content] of contents) {
      for (const [algorithm, digest] of digestsOf(content)) this.#addForms(`${algorithm} of ${name}`, digest);
    }
    while (this.#control.size < this.#short.size) {
      const value = randomInt(2 ** 32);
      if (this.#short.has(value) || this.#control.has(value)) continue;
      this.#control.add(value);
      this.#mark(value);
    }
  }

  add(haystack: Buffer): void {
    const [begins, pairs] = [this.#begins, this.#pairs];
    let places = 0;
    let three = ((haystack[0] ?? 0) << 8) | ((haystack[1] ?? 0) << 16);
    for (let at = 0; at + 4 <= haystack.length; at += 1) {
      three = (three >>> 8) | ((haystack[at + 2] ?? 0) << 16);
      if (three !== 0) places += 1;
      if (((pairs[(three & 0xffff) >> 3] ?? 0) & (1 << (three & 7))) === 0) continue;
      if (((begins[three >> 3] ?? 0) & (1 << (three & 7))) !== 0) this.#look(haystack, at);
    }
    this.#places += places;
  }

  /** What cannot be there by chance: all but values of 32 bits as they are, of which more than the bound count. */
  found(): string[] {
    const { hits, bound } = this.short();
    return [...this.#found, ...(hits.length > bound ? hits : [])].toSorted();
  }

  short(): ShortFindings {
    const values = this.#short.size;
    const hits = [...this.#shortFound].flatMap((value) => this.#short.get(value) ?? []);
    const control = [...this.#shortFound].filter((value) => this.#control.has(value)).length;
    // Poisson: five deviations above what is to be expected, and some where that is little.
    const expected = (values * this.#places) / 2 ** 32;
    return { values, places: this.#places, hits, control, bound: Math.ceil(expected + 5 * Math.sqrt(expected) + 3) };
  }

  #look(haystack: Buffer, at: number): void {
    const word = haystack.readUInt32LE(at);
    if (this.#short.has(word) || this.#control.has(word)) this.#shortFound.add(word);
    for (const { what, bytes, alphabet } of this.#needles.get(word) ?? []) {
      const end = at + bytes.length;
      if (!haystack.subarray(at, end).equals(bytes)) continue;
      const around = haystack.toString('latin1', Math.max(at - 1, 0), at) + haystack.toString('latin1', end, end + 1);
      if (alphabet === undefined || !alphabet.test(around)) this.#found.add(what);
    }
  }

  #addForms(what: string, digest: Buffer): void {
    const hex = digest.toString('hex');
    const base64 = digest.toString('base64').replace(/=+$/, '');
    const isShort = digest.length === 4;
    const [hexToken, base64Token] = isShort ? [/[0-9a-f]/i, /[0-9a-z+/]/i] : [undefined, undefined];
    this.#add(`${what}, hexadecimal`, Buffer.from(hex), hexToken);
    this.#add(`${what}, upper-case hexadecimal`, Buffer.from(hex.toUpperCase()), hexToken);
    this.#add(`${what}, base64`, Buffer.from(base64), base64Token);
    if (isShort) {
      // A number of fewer digits is too short to say anything: one CRC in 4,300.
      const decimal = String(digest.readUInt32BE(0));
      if (decimal.length > 6) this.#add(`${what}, decimal`, Buffer.from(decimal), /[0-9]/);
      for (const [order, value] of [digest.readUInt32LE(0), digest.readUInt32BE(0)].entries()) {
        this.#short.set(value, `${what}, raw${order === 0 ? '' : ', reversed'}`);
        this.#mark(value);
      }
      return;
    }
    this.#add(`${what}, raw`, digest);
    this.#add(`${what}, raw, reversed`, Buffer.from(digest).reverse());
  }

  #add(what: string, bytes: Buffer, alphabet?: RegExp): void {
    const first = bytes.readUInt32LE(0);
    const needle = { what, bytes, ...(alphabet && { alphabet }) };
    this.#needles.set(first, [...(this.#needles.get(first) ?? []), needle]);
    this.#mark(first);
  }

  #mark(word: number): void {
    const three = word & 0xffffff;
    this.#begins[three >> 3] = (this.#begins[three >> 3] ?? 0) | (1 << (three & 7));
    const pair = three & 0xffff;
    this.#pairs[pair >> 3] = (this.#pairs[pair >> 3] ?? 0) | (1 << (pair & 7));
  }
}
