import { resolveReferences } from './xml-references.ts';

/** The texts of one `Contents` of a listing; undefined for an element that it does not have. */
interface PlainObject {
  readonly key: string;
  readonly size: string | undefined;
  readonly etag: string | undefined;
  readonly lastModified: string | undefined;
  readonly storageClass: string | undefined;
}

interface PlainObjectList {
  readonly objects: readonly PlainObject[];
  readonly commonPrefixes: readonly string[];
  /** The other elements of the root that hold text only. */
  readonly fields: ReadonlyMap<string, string>;
}

/**
 * Reads a ListBucketResult in the plain form in which servers write it: elements without attributes, comments and CDATA, and none twice where
 * one is expected. Returns undefined for any other document, which the general reader then reads or refuses.
 *
 * It takes half the time of the general reader, which makes a node of each of the 8,000 elements of a page.
 */
export function readPlainObjectList(document: string): PlainObjectList | undefined {
  const head = /^(?:<\?xml [^<>]*\?>\s*)?<ListBucketResult(?: xmlns="[^"<>&]*")?>/.exec(document);
  if (head === null) return undefined;
  try {
    return new PlainReader(document, head[0].length).read();
  } catch (error) {
    if (error === notPlain) return undefined;
    throw error;
  }
}

const notPlain = new Error('the document is not in the plain form');

/** The texts of the elements, by their names. */
type Fields = Record<'Key' | 'Size' | 'ETag' | 'LastModified' | 'StorageClass', string | undefined>;

class PlainReader {
  readonly #source: string;
  #at: number;
  /** True if the last start tag also ended its element: `<Prefix/>`. */
  #isEmpty = false;

  constructor(source: string, at: number) {
    this.#source = source;
    this.#at = at;
  }

  read(): PlainObjectList {
    const objects: PlainObject[] = [];
    const commonPrefixes: string[] = [];
    const fields = new Map<string, string>();
    for (let name = this.#next('ListBucketResult'); name !== undefined; name = this.#next('ListBucketResult')) {
      if (name === 'Contents') objects.push(this.#object());
      else if (name === 'CommonPrefixes') commonPrefixes.push(this.#prefix());
      else if (fields.has(name)) throw notPlain;
      else fields.set(name, this.#text(name));
    }
    if (this.#source.slice(this.#at).trim() !== '') throw notPlain;
    return { objects, commonPrefixes, fields };
  }

  #object(): PlainObject {
    if (this.#isEmpty) throw notPlain;
    const found: Fields = {
      Key: undefined,
      Size: undefined,
      ETag: undefined,
      LastModified: undefined,
      StorageClass: undefined,
    };
    for (let name = this.#next('Contents'); name !== undefined; name = this.#next('Contents')) {
      if (!Object.hasOwn(found, name)) this.#skip(name);
      else if (found[name as keyof Fields] !== undefined) throw notPlain;
      else found[name as keyof Fields] = this.#text(name);
    }
    const { Key: key, Size: size, ETag: etag, LastModified: lastModified, StorageClass: storageClass } = found;
    if (key === undefined) throw notPlain;
    return { key, size, etag, lastModified, storageClass };
  }

  #prefix(): string {
    if (this.#isEmpty || this.#next('CommonPrefixes') !== 'Prefix') throw notPlain;
    const prefix = this.#text('Prefix');
    if (this.#next('CommonPrefixes') !== undefined) throw notPlain;
    return prefix;
  }

  /** Reads the start tag of the next child of `parent`, or its end tag: then it returns undefined. */
  #next(parent: string): string | undefined {
    const source = this.#source;
    let at = this.#at;
    while (isSpace(source.charCodeAt(at))) at += 1;
    if (source.charCodeAt(at) !== lessThan) throw notPlain;
    const end = source.indexOf('>', at);
    if (end < 0 || end - at > maxTag) throw notPlain;
    this.#at = end + 1;
    if (source.charCodeAt(at + 1) === slash) {
      if (source.slice(at + 2, end) !== parent) throw notPlain;
      return undefined;
    }
    this.#isEmpty = source.charCodeAt(end - 1) === slash;
    const name = source.slice(at + 1, this.#isEmpty ? end - 1 : end);
    if (!usualNames.has(name) && !plainName.test(name)) throw notPlain;
    return name;
  }

  /** Reads the text of an element up to its end tag. */
  #text(name: string): string {
    if (this.#isEmpty) return '';
    const source = this.#source;
    const end = source.indexOf('<', this.#at);
    if (!source.startsWith(`</${name}>`, end)) throw notPlain;
    const text = source.slice(this.#at, end);
    this.#at = end + name.length + 3;
    return text.includes('&') ? resolved(text) : text;
  }

  /** Skips an element that holds text, or elements with text, such as `Owner`. */
  #skip(name: string): void {
    const source = this.#source;
    const end = source.indexOf('<', this.#at);
    if (this.#isEmpty || source.startsWith(`</${name}>`, end)) this.#text(name);
    else for (let inner = this.#next(name); inner !== undefined; inner = this.#next(name)) this.#text(inner);
  }
}

/** The quotes of an ETag are nearly all references of a listing. */
function resolved(text: string): string {
  if (!text.startsWith(quote) || !text.endsWith(quote) || text.length < 2 * quote.length)
    return resolveReferences(text);
  const inner = text.slice(quote.length, -quote.length);
  return `"${inner.includes('&') ? resolveReferences(inner) : inner}"`;
}

const quote = '&quot;';
const usualNames = new Set([
  'Contents',
  'Key',
  'LastModified',
  'ETag',
  'Size',
  'StorageClass',
  'ChecksumAlgorithm',
  'ChecksumType',
  'Owner',
]);
const lessThan = 0x3c;
const slash = 0x2f;
/** Characters of a tag. */
const maxTag = 64;
const plainName = /^[A-Z][A-Za-z0-9]*$/;

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}
