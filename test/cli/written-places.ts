import { createHash, randomBytes } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { S3Client } from '../../cli/s3/client.ts';
import { listObjects, listVersions } from '../../cli/s3/list-objects.ts';
import { deleteObject, putObject, readObject } from '../../cli/s3/objects.ts';

/** A place that a command of the client copies from or to, and that another program changes meanwhile. */
export interface WrittenPlace {
  /** The argument of the command. */
  readonly argument: string;
  /** What the other program does, by name. Each changes one name. */
  readonly changes: readonly Change[];
  write(name: string, text: string): Promise<void>;
  remove(name: string): Promise<void>;
  /** What is there at present, by name. */
  contents(): Promise<ReadonlyMap<string, string>>;
  /** Whatever still has bytes of the place: files under other names, what links lead to, noncurrent versions. */
  remains(): Promise<readonly string[]>;
}

export interface Change {
  /** What the name holds afterwards: only the new text, or all with `appended`. */
  readonly kind: 'appended' | 'replaced' | 'removed';
  readonly make: (name: string, text: string) => Promise<void>;
}

/** A folder. `outside` is where links lead to. */
export class WrittenFolder implements WrittenPlace {
  readonly changes: readonly Change[];
  readonly #folder: string;
  readonly #outside: string;

  constructor(folder: string, outside: string) {
    this.#folder = folder;
    this.#outside = outside;
    for (const each of [folder, outside]) mkdirSync(each, { recursive: true });
    const replacement = (name: string): string => {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      return join(outside, randomBytes(8).toString('hex'));
    };
    this.changes = [
      { kind: 'appended', make: async (name, text) => appendFileSync(this.#pathOf(name), text) },
      { kind: 'appended', make: async (name, text) => appendFileSync(this.#pathOf(name), text) },
      { kind: 'replaced', make: async (name, text) => this.write(name, text) },
      {
        kind: 'replaced',
        make: async (name, text) => {
          const made = replacement(name);
          writeFileSync(made, text);
          renameSync(made, join(folder, name));
        },
      },
      {
        kind: 'replaced',
        make: async (name, text) => {
          const [made, link] = [replacement(name), replacement(name)];
          writeFileSync(made, text);
          (text.length % 2 === 0 ? linkSync : symlinkSync)(made, link);
          renameSync(link, join(folder, name));
        },
      },
      { kind: 'removed', make: async (name) => this.remove(name) },
    ];
  }

  get argument(): string {
    return `${this.#folder}/`;
  }

  async write(name: string, text: string): Promise<void> {
    writeFileSync(this.#pathOf(name), text);
  }

  async remove(name: string): Promise<void> {
    rmSync(join(this.#folder, name), { force: true });
  }

  /** Moves a folder away, and leaves a link to it in its place. */
  linkFolder(name: string): void {
    const [path, elsewhere] = [join(this.#folder, name), join(this.#outside, `moved-${name}`)];
    if (!existsSync(path) || lstatSync(path).isSymbolicLink()) return;
    renameSync(path, elsewhere);
    symlinkSync(elsewhere, path);
  }

  async contents(): Promise<ReadonlyMap<string, string>> {
    return new Map(filesBelow(this.#folder).map(([name, path]) => [name, readFileSync(path, 'utf8')]));
  }

  async remains(): Promise<readonly string[]> {
    return [this.#folder, this.#outside].flatMap((folder) =>
      filesBelow(folder).map(([, path]) => readFileSync(path, 'utf8')),
    );
  }

  #pathOf(name: string): string {
    const path = join(this.#folder, name);
    mkdirSync(dirname(path), { recursive: true });
    return path;
  }
}

/** The files below a folder, also through links. A move removes a folder that became empty. */
function filesBelow(folder: string, prefix = ''): [name: string, path: string][] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((name): [string, string][] => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) return filesBelow(path, `${prefix}${name}/`);
    return [[`${prefix}${name}`, path]];
  });
}

/** The texts of all objects so far, by ETag, so that a listing tells what they hold. */
const textsByTag = new Map<string, string>();

export function knowText(text: string): void {
  textsByTag.set(createHash('md5').update(text).digest('hex'), text);
}

/** Forgets the texts that begin so. A run of thousands of histories would keep gigabytes of them. */
export function forgetTexts(beginning: string): void {
  for (const [tag, text] of textsByTag) if (text.startsWith(beginning)) textsByTag.delete(tag);
}

/** The objects below a prefix. */
export class WrittenPrefix implements WrittenPlace {
  readonly changes: readonly Change[];
  readonly argument: string;
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #prefix: string;

  constructor(client: S3Client, alias: string, bucket: string, prefix: string) {
    this.#client = client;
    this.#bucket = bucket;
    this.#prefix = prefix;
    this.argument = `${alias}/${bucket}/${prefix}`;
    this.changes = [
      { kind: 'replaced', make: async (name, text) => this.write(name, text) },
      { kind: 'replaced', make: async (name, text) => this.write(name, text) },
      { kind: 'removed', make: async (name) => this.remove(name) },
    ];
  }

  async write(name: string, text: string): Promise<void> {
    knowText(text);
    await putObject(this.#client, this.#bucket, `${this.#prefix}${name}`, Buffer.from(text), {});
  }

  async remove(name: string): Promise<void> {
    await deleteObject(this.#client, { bucket: this.#bucket, key: `${this.#prefix}${name}` });
  }

  async contents(): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>();
    for await (const page of listObjects(this.#client, this.#listing)) {
      for (const one of page) if (typeof one !== 'string') found.set(this.#nameOf(one.key), await this.#textOf(one));
    }
    return found;
  }

  async remains(): Promise<readonly string[]> {
    const found: string[] = [];
    for await (const page of listVersions(this.#client, this.#listing)) {
      for (const one of page) if (typeof one !== 'string' && !one.deleteMarker) found.push(await this.#textOf(one));
    }
    return found;
  }

  get #listing() {
    return { bucket: this.#bucket, prefix: this.#prefix, recursive: true };
  }

  #nameOf(key: string): string {
    return key.slice(this.#prefix.length);
  }

  async #textOf({ key, etag, size, versionId }: Listed): Promise<string> {
    const known = textsByTag.get(etag);
    if (known !== undefined) return known;
    const range = { bucket: this.#bucket, key, versionId, etag, start: 0, end: size };
    return Buffer.concat(await Array.fromAsync(readObject(this.#client, range))).toString();
  }
}

interface Listed {
  readonly key: string;
  readonly etag: string;
  readonly size: number;
  readonly versionId?: string;
}
