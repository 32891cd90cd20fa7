import { fileErrorReason, systemErrorCode } from '../../../platform/errors/system-error.ts';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import { readTextFile } from '../../../platform/settings/read-setting-file.ts';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { CofferObject } from '../../api/object.ts';
import type { Secret } from '../../contract/secret.ts';
import { isTemporaryName } from '../../../platform/files/atomic-file.ts';
import { byKind, type Resources } from '../../reconcile/resources.ts';
import { isManagedKind } from '../../contract/workload.ts';
import { withoutLineEnd } from '../../../platform/settings/setting-text.ts';
import { readManifests, type ParsedFile } from './read-manifests.ts';

/** Reads Secrets that are folders, as Kubernetes mounts them: `NAME/KEY` has the value. Line ends at the end are not part of it. */
async function readSecretFolder(folder: string): Promise<readonly Secret[]> {
  const names = await readdir(folder, { withFileTypes: true });
  const secrets = names
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .map(async ({ name }): Promise<Secret> => {
      const keys = (await readdir(join(folder, name))).filter((key) => !key.startsWith('.') && !isTemporaryName(key));
      const data = await Promise.all(keys.map(async (key) => [key, await secretIn(join(folder, name, key))] as const));
      return { name, data: Object.fromEntries(data) };
    });
  return Promise.all(secrets);
}

async function secretIn(path: string): Promise<string> {
  try {
    return withoutLineEnd(await readTextFile(path));
  } catch (error) {
    throw new ProgramError('configuration', `the secret ${path} cannot be read: ${fileErrorReason(error)}`, {
      cause: error,
    });
  }
}

const maxFiles = 256;

/**
 * The manifests of a folder in their last valid state. A file with broken YAML keeps the objects that it had, and a refused object keeps
 * its last valid version. A deleted object is gone.
 */
export class ManifestFolder {
  readonly #folder: string;
  readonly #secretFolder: string | undefined;
  readonly #good = new Map<string, CofferObject>();
  #files = new Map<string, ParsedFile>();
  #resources: Resources;
  #problems: readonly string[] = [];
  /** Resources that were removed from the folder and are not cleaned up yet, by `Kind/name`. */
  readonly #released = new Set<string>();

  /**
   * `before` has the objects that an earlier process knew, for the rules on changes. `secretFolder` has Secrets, each as a folder with a
   * file for each key; a manifest of the same name wins.
   */
  constructor(folder: string, before: readonly CofferObject[] = [], secretFolder?: string) {
    this.#folder = folder;
    this.#secretFolder = secretFolder;
    for (const object of before) this.#good.set(keyOf(object), object);
    this.#resources = {
      ...byKind([]),
      secrets: new Map(),
      configMaps: new Map(),
      invalid: new Map(),
      deleting: new Set(),
    };
  }

  get resources(): Resources {
    return this.#resources;
  }

  /** Problems of files, apart from refused objects. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  /** Reads the folder again. Errors when the folder itself cannot be read. */
  async read(): Promise<void> {
    const names = (await listFolder(this.#folder))
      .filter((entry) => !entry.isDirectory() && /^[^.].*\.(ya?ml|json)$/.test(entry.name))
      .map((entry) => entry.name)
      .sort();
    const problems: string[] = names.length > maxFiles ? [`${this.#folder}: more than ${maxFiles} manifests`] : [];
    const files = new Map<string, ParsedFile>();
    for (const name of names.slice(0, maxFiles)) {
      const parsed = await this.#readFile(name);
      if (parsed === undefined) continue;
      files.set(name, parsed);
      problems.push(...parsed.problems);
    }
    this.#files = files;
    const kept = this.#secretFolder === undefined ? [] : await readSecretFolder(this.#secretFolder);
    this.#collect(problems, kept);
  }

  /** Records that a removed resource is cleaned up; the next `read` forgets it. Answers true when there was such a resource. */
  release(key: string): boolean {
    if (!this.#resources.deleting.has(key)) return false;
    this.#released.add(key);
    return true;
  }

  async #readFile(name: string): Promise<ParsedFile | undefined> {
    let source: string;
    try {
      source = await readTextFile(join(this.#folder, name));
    } catch (error) {
      // The file was deleted or replaced between the listing and the read. The next read sees it.
      if (systemErrorCode(error) === 'ENOENT') return undefined;
      return this.#keep(name, unreadable(name, fileErrorReason(error)));
    }
    return this.#keep(
      name,
      readManifests(name, source, (kind, object) => this.#good.get(`${kind}/${object}`)),
    );
  }

  /** Returns what a file holds; where it cannot be read, the objects that it had. */
  #keep(name: string, parsed: ParsedFile): ParsedFile {
    const before = this.#files.get(name);
    if (parsed.problems.length === 0 || before === undefined) return parsed;
    const message = parsed.problems.join('; ');
    const invalid = new Map(before.objects.map((object) => [keyOf(object), message]));
    return { ...before, invalid, problems: parsed.problems };
  }

  #collect(problems: string[], kept: readonly Secret[]): void {
    const objects = new Map<string, CofferObject>();
    const secrets = new Map(kept.map((secret) => [secret.name, secret]));
    const configMaps = new Map<string, Readonly<Record<string, string>>>();
    const invalid = new Map<string, string>();
    const origin = new Map<string, string>();
    const claim = (key: string, file: string): boolean => {
      const other = origin.get(key);
      if (other === undefined) origin.set(key, file);
      else problems.push(`${file}: ${key} is in ${other} too; the one in ${other} counts`);
      return other === undefined;
    };
    for (const [file, parsed] of this.#files) {
      for (const object of parsed.objects) if (claim(keyOf(object), file)) objects.set(keyOf(object), object);
      for (const secret of parsed.secrets) if (claim(`Secret/${secret.name}`, file)) secrets.set(secret.name, secret);
      for (const { name, data } of parsed.configMaps) if (claim(`ConfigMap/${name}`, file)) configMaps.set(name, data);
      for (const [key, message] of parsed.invalid) {
        if (!objects.has(key) && !claim(key, file)) continue;
        invalid.set(key, message);
        const good = this.#good.get(key);
        if (good !== undefined) objects.set(key, good);
      }
    }
    const deleting = new Set<string>();
    for (const [key, object] of this.#good) {
      if (objects.has(key)) this.#released.delete(key);
      else if (isUndone(object) && !this.#released.has(key)) {
        deleting.add(key);
        objects.set(key, object);
      }
    }
    this.#good.clear();
    for (const [key, object] of objects) this.#good.set(key, object);
    this.#problems = problems;
    this.#resources = { ...byKind(objects.values()), secrets, configMaps, invalid, deleting };
  }
}

function unreadable(file: string, reason: string): ParsedFile {
  return { objects: [], secrets: [], configMaps: [], invalid: new Map(), problems: [`${file}: ${reason}`] };
}

async function listFolder(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    throw new Error(
      `the folder of manifests ${folder} cannot be read: ${fileErrorReason(error)}; name it with --manifests`,
      {
        cause: error,
      },
    );
  }
}

function keyOf(object: CofferObject): string {
  return `${object.kind}/${object.metadata.name}`;
}

/** A resource whose removal needs a cleanup, or whose keys tenants need, is kept until then, like with a finalizer on Kubernetes. */
function isUndone({ kind, spec }: CofferObject): boolean {
  if (kind === 'KMSConfig') return true;
  return isManagedKind(kind) && 'deletionPolicy' in spec && spec.deletionPolicy === 'Delete';
}
