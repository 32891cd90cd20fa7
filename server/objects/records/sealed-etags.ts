import { DigestPage, type DigestSeal } from '../../encryption/digest-seal.ts';
import type { ListedObject } from '../contract/object-layer.ts';
import { ETAG_FIELD, md5InRecord, openEtag, type SealedDigest } from './stored-digests.ts';
import { isStoreError } from '../../store/store-error.ts';

/** The count of objects in a page; listings have at most a thousand. */
const PAGE = 256;
const MD5_SIZE = 16;

/** The listed object that receives the ETag. */
interface Target {
  etag: string;
  damage: ListedObject['damage'];
}

interface Page {
  readonly digests: DigestPage;
  readonly targets: Target[];
}

/** Opens the sealed ETags of a listing together: one by one, each would cost thirty times as much. */
export class SealedEtags {
  count = 0;
  /** By the size of the digest. */
  readonly #pages = new Map<number, Page[]>();
  readonly #others: { readonly target: Target; readonly id: string; readonly etag: SealedDigest }[] = [];

  /** Copies the sealed ETag from a record. Returns false where the ETag or the id has another form: then the caller uses `add`. */
  addRecord(
    target: Target,
    record: Buffer,
    at: { readonly idStart: number | undefined; readonly etagStart: number; readonly etagEnd: number },
  ): boolean {
    const length = md5InRecord(record, at.etagStart, at.etagEnd);
    if (length === 0 || at.idStart === undefined) return false;
    const { digests, targets } = this.#page(length);
    digests.placeAt(targets.length, record, at.idStart, ETAG_FIELD);
    digests.takeSealed(targets.length, record, at.etagStart + 1);
    targets.push(target);
    this.count += 1;
    return true;
  }

  add(target: Target, id: string, etag: SealedDigest): void {
    this.#others.push({ target, id, etag });
    this.count += 1;
  }

  /** An object whose ETag was changed is shown as damaged: one such record does not hide the others. */
  open(seal: DigestSeal, now: number): void {
    for (const pages of this.#pages.values()) for (const page of pages) openPage(seal, page, now);
    for (const { target, id, etag } of this.#others) {
      try {
        target.etag = openEtag(seal, { id, part: 0 }, etag);
      } catch (error) {
        if (!isStoreError(error, 'ciphertext-damaged')) throw error;
        markDamaged(target, now);
      }
    }
  }

  #page(length: number): Page {
    let pages = this.#pages.get(length);
    if (pages === undefined) this.#pages.set(length, (pages = []));
    let page = pages.at(-1);
    if (page === undefined || page.targets.length === PAGE) {
      page = { digests: new DigestPage(PAGE, length), targets: [] };
      pages.push(page);
    }
    return page;
  }
}

function openPage(seal: DigestSeal, { digests, targets }: Page, now: number): void {
  const page = digests.first(targets.length);
  const authentic = seal.openPage(page);
  const hex = page.digests[0]?.toString('hex') ?? '';
  const counts = page.digests[1];
  for (let at = 0; at < targets.length; at += 1) {
    const target = targets[at];
    if (target === undefined) continue;
    if (authentic[at] !== true) markDamaged(target, now);
    else {
      const md5 = hex.slice(at * 2 * MD5_SIZE, (at + 1) * 2 * MD5_SIZE);
      target.etag = counts === undefined ? md5 : `${md5}-${counts.readUInt16BE(at * MD5_SIZE)}`;
    }
  }
}

function markDamaged(target: Target, now: number): void {
  target.damage ??= { found: now, what: 'its ETag is not authentic: the record was changed, or is of another object' };
}
