import { createHash } from 'node:crypto';

/** The bytes of an object by their hash, or that there is none. A bucket is one by the name of `BUCKET/`. */
export type Content = string | undefined;

export function contentOf(bytes: Uint8Array): string {
  return `${bytes.length} bytes, SHA-256 ${createHash('sha256').update(bytes).digest('hex')}`;
}

/** An answer is missing: it is what it was, or what was asked for. */
export const IN_DOUBT = Symbol('in doubt');

/** What `BUCKET/` is while the bucket is there. */
export const BUCKET_THERE = 'a bucket';

/** A rename without an answer, with nothing else asked for either name since: the content is at one of them, and not at both. */
export interface Move {
  readonly from: string;
  readonly to: string;
  readonly content: string;
}

/** Returns what is wrong with what a server shows of renames that were on their way. */
export function halfMoves(moves: readonly Move[], shown: (name: string) => Content): string[] {
  return moves.flatMap(({ from, to, content }) => {
    const [atOld, atNew] = [shown(from) === content, shown(to) === content];
    if (atOld !== atNew) return [];
    return [`the rename of ${from} to ${to} is half done: the object has ${atOld ? 'both names' : 'neither name'}`];
  });
}

/** Who is told what clients ask for and are answered, by the names `BUCKET/KEY`. One writer at a time changes a name. */
export interface Witness {
  /** A request is on its way: from now on the server may show either. */
  begin(name: string, content: Content): void;
  /** A rename is on its way: both names change, or none. */
  beginMove(move: Move): void;
  /** `versionId` is of the version that the change has created, a delete marker where the name has no content any more. */
  acknowledge(name: string, versionId?: string): void;
  /** The server refused: nothing was changed. */
  refuse(name: string): void;
  /** What surely is there, `undefined` for nothing; `IN_DOUBT` while an answer is missing. */
  known(name: string): Content | typeof IN_DOUBT;
  /** True where a write had no answer, so that there can be a version whose id is unknown. */
  hasUnanswered(name: string): boolean;
  readonly names: readonly string[];
}

/** The content of a version that is a delete marker. */
export const DELETE_MARKER = 'a delete marker';

/** What is changed of a version besides its content. Each has a name of its own. */
export type Subresource = 'tagging' | 'legal-hold' | 'retention';

/** The name of a version, or of its tags or lock, of an object with the name `BUCKET/KEY`. */
export function versionName(name: string, versionId: string, subresource?: Subresource): string {
  return `${name}?versionId=${versionId}${subresource === undefined ? '' : `&${subresource}`}`;
}

/** True for `BUCKET/KEY`: neither a bucket nor a version. */
export function isObjectName(name: string): boolean {
  return !name.endsWith('/') && !isVersionName(name);
}

export function isVersionName(name: string): boolean {
  return name.includes('?versionId=');
}

/** The versions of an object that surely exist, newest first, or undefined while an answer about any of them is missing. Ids grow with time. */
export function knownVersions(
  witness: Pick<Witness, 'names' | 'known' | 'hasUnanswered'>,
  name: string,
): { readonly versionId: string; readonly content: string }[] | undefined {
  if (witness.known(name) === IN_DOUBT || witness.hasUnanswered(name)) return undefined;
  const prefix = versionName(name, '');
  const versions: { versionId: string; content: string }[] = [];
  for (const one of witness.names) {
    if (!one.startsWith(prefix)) continue;
    const content = witness.known(one);
    if (content === IN_DOUBT) return undefined;
    const versionId = one.slice(prefix.length);
    if (content !== undefined && !versionId.includes('&')) versions.push({ versionId, content });
  }
  return versions.toSorted((left, right) => (left.versionId < right.versionId ? 1 : -1));
}

/** Where the object of a name is. */
export function placeOf(name: string): { readonly Bucket: string; readonly Key: string } {
  const slash = name.indexOf('/');
  return { Bucket: name.slice(0, slash), Key: name.slice(slash + 1) };
}

/**
 * What clients were told about each name, and so what a server may show after it was killed. One writer at a time changes a name, so
 * that only what it asked for since its last answer is in doubt.
 */
export class ExpectedObjects implements Witness {
  readonly #acknowledged = new Map<string, Content>();
  /** What was asked for without an answer, or with one that leaves it open, since the last acknowledgement. */
  readonly #inDoubt = new Map<string, Content[]>();
  /** What was asked for without an answer before the last acknowledgement: there can be a version of it. */
  readonly #unanswered = new Map<string, Content[]>();
  readonly #moves = new Set<Move>();
  acknowledgements = 0;

  begin(name: string, content: Content): void {
    for (const move of this.#moves) if (move.from === name || move.to === name) this.#moves.delete(move);
    this.#inDoubt.set(name, [...(this.#inDoubt.get(name) ?? []), content]);
  }

  beginMove(move: Move): void {
    const { from, to, content } = move;
    const isClear = this.known(from) === content && this.known(to) !== IN_DOUBT && this.known(to) !== content;
    this.begin(from, undefined);
    this.begin(to, content);
    if (isClear) this.#moves.add(move);
  }

  /** The renames that are on their way, as `halfMoves` takes them. */
  get moves(): readonly Move[] {
    return [...this.#moves].filter(({ from, to }) => this.#inDoubt.has(from) && this.#inDoubt.has(to));
  }

  acknowledge(name: string, versionId?: string): void {
    const asked = this.#inDoubt.get(name) ?? [];
    const content = asked.at(-1);
    this.#acknowledged.set(name, content);
    if (asked.length > 1) this.#unanswered.set(name, [...(this.#unanswered.get(name) ?? []), ...asked.slice(0, -1)]);
    if (versionId !== undefined) this.#acknowledged.set(versionName(name, versionId), content ?? DELETE_MARKER);
    this.#inDoubt.delete(name);
    this.acknowledgements += 1;
  }

  refuse(name: string): void {
    const left = (this.#inDoubt.get(name) ?? []).slice(0, -1);
    if (left.length === 0) this.#inDoubt.delete(name);
    else this.#inDoubt.set(name, left);
  }

  known(name: string): Content | typeof IN_DOUBT {
    return this.#inDoubt.has(name) ? IN_DOUBT : this.#acknowledged.get(name);
  }

  get names(): readonly string[] {
    return [...new Set([...this.#acknowledged.keys(), ...this.#inDoubt.keys()])];
  }

  /** How many names have a change that was not answered. */
  get doubts(): number {
    return this.#inDoubt.size;
  }

  hasUnanswered(name: string): boolean {
    return this.#unanswered.has(name);
  }

  /** True where a write of this content had no answer, and can have left a version with an id that the client does not know. */
  mayHaveCreated(name: string, content: string): boolean {
    const asked = [...(this.#inDoubt.get(name) ?? []), ...(this.#unanswered.get(name) ?? [])];
    return asked.some((one) => (one ?? DELETE_MARKER) === content);
  }

  /** What is wrong with what a server shows, if anything. */
  complaint(name: string, shown: Content): string | undefined {
    const allowed = [this.#acknowledged.get(name), ...(this.#inDoubt.get(name) ?? [])];
    if (allowed.includes(shown)) return undefined;
    return `${name} is ${shown ?? 'absent'}, where ${allowed.map((content) => content ?? 'absent').join(' or ')} was answered`;
  }

  /** What a restarted server shows is what it goes on from. */
  settle(name: string, shown: Content): void {
    this.#acknowledged.set(name, shown);
    this.#inDoubt.delete(name);
    this.#unanswered.delete(name);
  }
}

/** A part by what makes its bytes, so that a test need not keep them. */
export interface Part {
  readonly seed: number;
  readonly size: number;
  readonly etag: string;
}

export interface Upload {
  readonly id: string;
  /** `BUCKET/KEY`. */
  readonly name: string;
  readonly parts: ReadonlyMap<number, Part>;
}

interface Tracked extends Upload {
  readonly parts: Map<number, Part>;
  /** Parts on their way, or on their way when the server was killed. */
  readonly inDoubt: Set<number>;
  /** Whether completing or aborting it was asked for. */
  ending: boolean;
}

/** What a server shows of one upload. */
export interface ShownUpload {
  readonly id: string;
  readonly name: string;
  readonly parts: ReadonlyMap<number, string>;
}

/** What clients were told about multipart uploads that are not complete: those that were begun stay, with every part. */
export class ExpectedUploads {
  readonly #uploads = new Map<string, Tracked>();
  readonly #beginning = new Map<string, number>();
  readonly #ended = new Set<string>();

  begin(name: string): void {
    this.#beginning.set(name, (this.#beginning.get(name) ?? 0) + 1);
  }

  begun(name: string, id: string): Upload {
    this.#beginning.set(name, (this.#beginning.get(name) ?? 1) - 1);
    const upload: Tracked = { id, name, parts: new Map(), inDoubt: new Set(), ending: false };
    this.#uploads.set(id, upload);
    return upload;
  }

  beginPart(id: string, number: number): void {
    this.#uploads.get(id)?.inDoubt.add(number);
  }

  partDone(id: string, number: number, part: Part): void {
    this.#uploads.get(id)?.inDoubt.delete(number);
    this.#uploads.get(id)?.parts.set(number, part);
  }

  end(id: string): void {
    const upload = this.#uploads.get(id);
    if (upload !== undefined) upload.ending = true;
  }

  ended(id: string): void {
    this.#uploads.delete(id);
    this.#ended.add(id);
  }

  /** An upload of such a name that was left; `whole` when everything about it is known, so that it can be gone on with. */
  left(isOwn: (name: string) => boolean): { readonly upload: Upload; readonly whole: boolean } | undefined {
    const upload = this.#uploads.values().find(({ name }) => isOwn(name));
    return upload && { upload, whole: !upload.ending && upload.inDoubt.size === 0 };
  }

  get doubts(): number {
    const parts = this.#uploads.values().reduce((sum, { inDoubt }) => sum + inDoubt.size, 0);
    return parts + this.#beginning.values().reduce((sum, count) => sum + count, 0);
  }

  /** What contradicts what clients were told; what is shown is what the server goes on from. */
  complaints(shown: readonly ShownUpload[]): string[] {
    const complaints: string[] = [];
    const found = new Map(shown.map((upload) => [upload.id, upload]));
    for (const upload of this.#uploads.values()) {
      const { id, name, ending } = upload;
      const there = found.get(id);
      if (there !== undefined) complaints.push(...partComplaints(upload, there));
      else if (ending) this.ended(id);
      else complaints.push(`the upload ${id} of ${name} was begun and is gone`);
    }
    for (const { id, name } of shown) {
      if (this.#ended.has(id)) complaints.push(`the upload ${id} of ${name} has ended and is there`);
      if (this.#uploads.has(id) || this.#ended.has(id)) continue;
      const beginning = this.#beginning.get(name) ?? 0;
      if (beginning === 0) complaints.push(`the upload ${id} of ${name} was begun by nobody`);
      this.#beginning.set(name, beginning - 1);
      // Nobody was told its id, so nobody goes on with it.
      this.#uploads.set(id, { id, name, parts: new Map(), inDoubt: new Set(), ending: true });
    }
    this.#beginning.clear();
    return complaints;
  }
}

function partComplaints({ id, name, parts, inDoubt, ending }: Tracked, shown: ShownUpload): string[] {
  const complaints: string[] = [];
  for (const [number, { etag }] of parts) {
    if (inDoubt.has(number)) continue;
    const there = shown.parts.get(number);
    if (there !== etag)
      complaints.push(`part ${number} of ${id} of ${name} is ${there ?? 'absent'}, where ${etag} was answered`);
  }
  for (const number of shown.parts.keys()) {
    if (!parts.has(number) && !inDoubt.has(number) && !ending)
      complaints.push(`part ${number} of ${id} of ${name} was sent by nobody`);
  }
  return complaints;
}
