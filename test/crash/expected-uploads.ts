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
