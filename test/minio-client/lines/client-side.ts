import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import {
  GetObjectCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  ListBucketsCommand,
  ListObjectVersionsCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { runCommand, tool } from '../../support/process/run-command.ts';
import { runCoffer } from '../../support/server/run-coffer.ts';
import type { Group, Line } from './read-lines.ts';

export interface LineServer {
  readonly url: string;
  readonly accessKey: string;
  readonly secretKey: string;
}

/** What a client printed, and its exit code. */
export interface Reply {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export type ClientName = 'mc' | 'coffer';

/** One client, with a server and a folder of its own. Its alias of the server is `A`. */
export class ClientSide {
  readonly server: LineServer;
  readonly folder: string;
  readonly #client: ClientName;
  readonly #group: Group;
  readonly #config: string;
  readonly #s3: S3Client;
  readonly #digests = new Map<string, string>();

  constructor(client: ClientName, group: Group, server: LineServer, folder: string) {
    this.server = server;
    this.#client = client;
    this.#group = group;
    this.folder = join(folder, 'files');
    this.#config = join(folder, 'config');
    this.#s3 = new S3Client({
      endpoint: server.url,
      region: 'us-east-1',
      forcePathStyle: true,
      credentials: { accessKeyId: server.accessKey, secretAccessKey: server.secretKey },
      maxAttempts: 3,
    });
    this.#prepare();
  }

  async run(line: Line): Promise<Reply> {
    const words = await Promise.all(line.words.map((word) => this.#filled(word)));
    const args = ['--config-dir', this.#config, '--json', ...words];
    const filled = Object.entries(line.env).map(async ([name, value]) => [name, await this.#filled(value)] as const);
    const env = { ...Object.fromEntries(await Promise.all(filled)), HOME: this.folder };
    const input = line.input === undefined ? {} : { input: await this.#filled(line.input) };
    if (this.#client === 'coffer' && !line.effect) {
      const { code, stdout, stderr } = await runCoffer(args, { env, ...input });
      return { code, stdout: stdout.toString('utf8'), stderr };
    }
    return runCommand(tool('bin/mc', 'mc'), args, { env, cwd: this.folder, timeoutMs: 30_000, ...input });
  }

  /** The versions of the group's buckets and the files, a line each. */
  async state(): Promise<string[]> {
    const lines: string[] = this.#files();
    for (const bucket of await this.#buckets()) {
      lines.push(`${bucket}/`);
      for (const version of await this.#versions(bucket)) {
        const { kind, key, size, latest } = version;
        const body = kind === 'marker' ? '' : ` ${size} ${await this.#digest(bucket, version)}`;
        lines.push(`${bucket}/${key} ${kind}${latest ? ' latest' : ''}${body}`);
      }
    }
    return lines;
  }

  /** The headers and tags of each version. */
  async details(): Promise<string[]> {
    const lines: string[] = [];
    for (const Bucket of await this.#buckets()) {
      for (const { kind, key: Key, id: VersionId } of await this.#versions(Bucket)) {
        if (kind === 'marker') continue;
        const ref = { Bucket, Key, ...(VersionId === 'null' ? {} : { VersionId }) };
        try {
          const head = await this.#s3.send(new HeadObjectCommand(ref));
          const tags = await this.#s3.send(new GetObjectTaggingCommand(ref));
          const until = head.ObjectLockRetainUntilDate?.toISOString().slice(0, 10);
          const facts = {
            ...head,
            ObjectLockRetainUntilDate: until,
            Metadata: attributesOf(head.Metadata ?? {}),
            tags: tags.TagSet,
          };
          lines.push(`${Bucket}/${Key} ${JSON.stringify(sorted(facts))}`);
        } catch (error) {
          lines.push(`${Bucket}/${Key} ${(error as Error).name}`);
        }
      }
    }
    return lines;
  }

  close(): void {
    this.#s3.destroy();
  }

  #prepare(): void {
    const { url, accessKey, secretKey } = this.server;
    mkdirSync(this.#config, { recursive: true });
    const aliases = { A: { url, accessKey, secretKey, api: 'S3v4', path: 'auto' } };
    writeFileSync(join(this.#config, 'config.json'), JSON.stringify({ version: '10', aliases }));
    const files: Readonly<Record<string, string>> = {
      'a.txt': 'hello',
      'b.csv': 'name,age\nann,31\nbob,27\n',
      'c.json': '{"name":"ann","age":31}\n{"name":"bob","age":27}\n',
      'lines.txt': Array.from({ length: 20 }, (_, index) => `line ${index + 1}\n`).join(''),
      'policy.json': JSON.stringify({
        Version: '2012-10-17',
        Statement: [{ Effect: 'Allow', Action: ['s3:GetObject'], Resource: ['arn:aws:s3:::photos/*'] }],
      }),
      'bad.json': '{"Version":',
      'alias.json': JSON.stringify({ url, accessKey, secretKey, api: 's3v4', path: 'auto' }),
      'public.json': JSON.stringify({
        Version: '2012-10-17',
        Statement: [
          {
            Effect: 'Allow',
            Principal: '*',
            Action: ['s3:GetObject'],
            Resource: [`arn:aws:s3:::${this.#group.name}-one/*`],
          },
        ],
      }),
      'tree/one.txt': 'one',
      'tree/two.log': 'two two',
      'tree/sub/three.txt': 'three three three',
      'big.bin': 'x'.repeat(200_000),
    };
    for (const [path, content] of Object.entries(files)) {
      const full = join(this.folder, path);
      mkdirSync(join(full, '..'), { recursive: true });
      writeFileSync(full, content);
      utimesSync(full, 1_700_000_000, 1_700_000_000);
    }
  }

  /**
   * `$D` is the folder, `$URL` the server, `$HOST` its host and port, `$AK` and `$SK` its keys, `$V(BUCKET/KEY,N)` the nth newest
   * version of an object.
   */
  async #filled(word: string): Promise<string> {
    const { url, accessKey, secretKey } = this.server;
    const version = /\$V\(([^/]+)\/([^,]+),(\d+)\)/.exec(word);
    let filled = word;
    if (version !== null) {
      const [all, bucket = '', key, n] = version;
      const versions = (await this.#versions(bucket)).filter((one) => one.key === key);
      filled = filled.replace(all, versions[Number(n) - 1]?.id ?? 'none');
    }
    return filled
      .replaceAll('$D', this.folder)
      .replaceAll('$URL', url)
      .replaceAll('$HOST', new URL(url).host)
      .replaceAll('$AK', accessKey)
      .replaceAll('$SK', secretKey);
  }

  async #buckets(): Promise<string[]> {
    const { Buckets = [] } = await this.#s3.send(new ListBucketsCommand({}));
    return Buckets.map(({ Name = '' }) => Name).filter((name) => name.startsWith(`${this.#group.name}-`));
  }

  async #versions(Bucket: string) {
    const { Versions = [], DeleteMarkers = [] } = await this.#s3.send(new ListObjectVersionsCommand({ Bucket }));
    const all = [
      ...Versions.map((one) => ({ ...one, kind: 'version' as const })),
      ...DeleteMarkers.map((one) => ({ ...one, kind: 'marker' as const, Size: 0, ETag: '' })),
    ];
    return all
      .map(({ kind, Key = '', VersionId = '', Size = 0, ETag = '', IsLatest = false, LastModified }) => ({
        kind,
        key: Key,
        id: VersionId,
        size: Size,
        etag: ETag,
        latest: IsLatest,
        time: LastModified?.getTime() ?? 0,
      }))
      .toSorted((a, b) =>
        a.key === b.key ? b.time - a.time || Number(b.latest) - Number(a.latest) : a.key < b.key ? -1 : 1,
      );
  }

  /** The digest of a version's body, which is read once. An ETag depends on how the body was sent. */
  async #digest(
    Bucket: string,
    { key, id, etag }: { readonly key: string; readonly id: string; readonly etag: string },
  ) {
    const name = JSON.stringify([Bucket, key, id, etag]);
    const known = this.#digests.get(name);
    if (known !== undefined) return known;
    const ref = { Bucket, Key: key, ...(id === 'null' ? {} : { VersionId: id }) };
    const digest = await this.#s3.send(new GetObjectCommand(ref)).then(
      async ({ Body }) => digestOf((await Body?.transformToByteArray()) ?? new Uint8Array()),
      // An object with a key of the client.
      (error: Error) => error.name,
    );
    this.#digests.set(name, digest);
    return digest;
  }

  #files(): string[] {
    return readdirSync(this.folder, { recursive: true, withFileTypes: true })
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((path) => !relative(this.folder, path).startsWith('.') && !path.endsWith('alias.json'))
      .map((path) => {
        const stat = statSync(path);
        const name = relative(this.folder, path);
        if (stat.isDirectory()) return `file ${name}/`;
        return `file ${name} ${stat.size} ${digestOf(readFileSync(path))}`;
      })
      .toSorted((a, b) => (a < b ? -1 : 1));
  }
}

/** Stock mc also keeps the names of the owner and group of a file, when it was read, and all of it with --attr. */
function attributesOf(metadata: Readonly<Record<string, string>>): Record<string, unknown> {
  const { 'mc-attrs': attributes = '', ...rest } = metadata;
  const mtime = /mtime:[^/]*/.exec(attributes)?.[0];
  return sorted({ ...rest, mtime: rest['k'] === undefined ? mtime : undefined });
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 12);
}

/** Differs from run to run, or is compared by `state`. */
const unlike = new Set(['$metadata', 'LastModified', 'VersionId', 'ETag']);

function sorted(fields: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([name, value]) => value !== undefined && !unlike.has(name))
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
}
