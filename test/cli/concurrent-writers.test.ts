import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createBucket } from '../../cli/s3/buckets.ts';
import { putVersioning } from '../../cli/s3/bucket-settings.ts';
import { S3Client } from '../../cli/s3/client.ts';
import { connectionsTo } from '../../cli/s3/connection/connections.ts';
import { forEachLimit } from '../../platform/async/concurrency.ts';
import { fullForm, inFullForm } from '../support/full-form.ts';
import { report } from '../support/report.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { startClient } from '../support/server/client-process.ts';
import { runCoffer } from '../support/server/run-coffer.ts';
import { sharedServer } from '../support/server/shared-server.ts';
import { type RunningServer, type ServerAccess, startServer } from '../support/server/start-server.ts';
import { startWatchedFront, type WatchedFront } from '../support/server/watched-front.ts';
import { forgetTexts, knowText, WrittenFolder, WrittenPrefix, type WrittenPlace } from './written-places.ts';
import { seed } from '../support/seed.ts';

/**
 * Random histories of a command and of a program that changes both places meanwhile. Each write has bytes of its own. Bytes that the program
 * wrote, and did not replace or remove itself, are at the source or at the target afterwards.
 */
const histories = Number(process.env['COFFER_HISTORIES'] ?? 200);
/** The interval, in histories, at which the command is a process of its own that is killed. */
const killedEvery = inFullForm(12, 50);

const names = ['a', 'd/b', 'e'];
/** Only the target has them. */
const extraneous = ['d/x'];

let folder: string;
let server: ServerAccess;
let other: RunningServer;
/** The other program, at each of the servers. */
let writer: S3Client;
let otherWriter: S3Client;
/** `s` and `t` are two addresses of one server, so that a copy from one to the other goes through the client. `o` is another server. */
let fronts: { readonly s: WatchedFront; readonly t: WatchedFront; readonly o: WatchedFront };

async function writerAt({ s3: url, accessKey, secretKey }: ServerAccess): Promise<S3Client> {
  return new S3Client({
    alias: { url, accessKey, secretKey, api: 'S3v4', path: 'auto' },
    agent: await connectionsTo(url, { certs: folder, insecure: false, resolutions: [] }),
    signal: new AbortController().signal,
  });
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-writers-'));
  server = await sharedServer();
  other = await startServer();
  writer = await writerAt(server);
  otherWriter = await writerAt(other);
  fronts = {
    s: await startWatchedFront(server.s3),
    t: await startWatchedFront(server.s3),
    o: await startWatchedFront(other.s3),
  };
  await createBucket(otherWriter, 'writers-to');
  for (const bucket of ['writers-from', 'writers-to', 'writers-versions']) await createBucket(writer, bucket);
  await putVersioning(writer, 'writers-versions', { status: 'Enabled' });
}, 180_000);

afterAll(async () => {
  writer.close();
  otherWriter.close();
  await Promise.all(Object.values(fronts).map((front) => front.close()));
  await other.stop();
  await rm(folder, { recursive: true, force: true });
});

/** What the other program knows of the source. */
class Written {
  /** The bytes that must not be lost, by name. */
  readonly kept = new Map<string, readonly string[]>();
  /** What the source holds, as far as the command leaves it alone. */
  readonly present = new Map<string, string>();
  /** Every state that a name had. */
  readonly states = new Map<string, Set<string>>();

  changed(name: string, kind: 'appended' | 'replaced' | 'removed', text: string): void {
    const before = kind === 'appended' ? (this.kept.get(name) ?? []) : [];
    this.kept.set(name, kind === 'removed' ? [] : [...before, text]);
    const present =
      kind === 'removed' ? undefined : `${kind === 'appended' ? (this.present.get(name) ?? '') : ''}${text}`;
    if (present === undefined) this.present.delete(name);
    else this.present.set(name, present);
    const states = this.states.get(name) ?? new Set();
    // A file is empty for an instant while it is rewritten. What was appended to a moved file is a file of its own.
    for (const state of ['', text, present ?? '']) {
      states.add(state);
      knowText(state);
    }
    this.states.set(name, states);
  }
}

type Direction = 'up' | 'down' | 'across' | 'within' | 'between';

/** The alias of the target of each direction that does not end in a folder. */
const targetAliases = { up: 's', across: 't', within: 's', between: 'o' } as const;

class History {
  readonly #random: SeededRandom;
  readonly #id: string;
  readonly #command: 'mv' | 'cp' | 'mirror';
  readonly #direction: Direction;
  readonly #source: WrittenPlace;
  readonly #target: WrittenPlace;
  readonly #written = new Written();
  /** What was written to the target after the command listed it, by name. */
  readonly #protected = new Map<string, string>();
  #texts = 0;
  #changing: Promise<void> = Promise.resolve();

  constructor(number: number) {
    this.#random = new SeededRandom(seed * 1_000_003 + number);
    this.#id = `h${number}`;
    this.#command = this.#oneOf(['mv', 'cp', 'mirror']);
    this.#direction = this.#oneOf(['up', 'down', 'across', 'within', 'between']);
    const from = this.#oneOf(['writers-from', 'writers-versions']);
    this.#source =
      this.#direction === 'up' ? this.#folder('from') : new WrittenPrefix(writer, 's', from, `${this.#id}/from/`);
    this.#target = this.#direction === 'down' ? this.#folder('to') : this.#prefix(targetAliases[this.#direction]);
  }

  #folder(name: string): WrittenFolder {
    return new WrittenFolder(join(folder, this.#id, name), join(folder, this.#id, `${name}-outside`));
  }

  #prefix(alias: 's' | 't' | 'o'): WrittenPrefix {
    return new WrittenPrefix(alias === 'o' ? otherWriter : writer, alias, 'writers-to', `${this.#id}/to/`);
  }

  #oneOf<T>(choices: readonly T[]): T {
    const chosen = choices[this.#random.between(0, choices.length - 1)];
    if (chosen === undefined) throw new Error('there is no choice');
    return chosen;
  }

  #newText(): string {
    this.#texts += 1;
    // Some are longer than what the client reads at once, and their lengths differ only sometimes.
    const length = this.#random.between(0, 19) === 0 ? 1_100_000 : this.#random.between(1, 2);
    return `<${this.#id}.${this.#texts}${'.'.repeat(length)}>`;
  }

  get arguments(): readonly string[] {
    const flags = { mv: ['-r'], cp: ['-r'], mirror: ['--overwrite', '--remove'] }[this.#command];
    return [this.#command, ...flags, this.#source.argument, this.#target.argument];
  }

  /** Returns what was lost. */
  async run(kills: boolean): Promise<string | undefined> {
    for (const name of names) if (this.#random.between(0, 5) > 0) await this.#write(name);
    for (const name of extraneous) if (this.#random.between(0, 1) > 0) await this.#target.write(name, this.#newText());
    const end = await this.#runWithWriter(kills);
    const isRepeated = fullForm || kills || this.#random.between(0, 3) === 0;
    const lost = (await this.#loss()) ?? (isRepeated ? await this.#leftBehind() : undefined);
    return lost && `${this.#id}: coffer ${this.arguments.join(' ')}: ${lost}\n${end}`;
  }

  async #write(name: string): Promise<void> {
    const text = this.#newText();
    await this.#source.write(name, text);
    this.#written.changed(name, 'replaced', text);
  }

  /** Runs the command while the other program writes before and after its requests. It ends at a random one of them if it is killed. */
  async #runWithWriter(kills: boolean): Promise<string> {
    const mine = (_: string, path: string): boolean => path.includes(this.#id) && /\bfrom\b|\bto\b/.test(path);
    const end = this.#random.between(1, 20);
    const isInterrupted = !kills && this.#random.between(0, 7) === 0;
    const interrupted = new AbortController();
    const child = kills ? startClient(this.arguments, environment()) : undefined;
    let requests = 0;
    let isOver = false;
    const act = async (method: string, path: string): Promise<void> => {
      requests += 1;
      if (requests === end) {
        if (kills) child?.kill('SIGKILL');
        if (isInterrupted) interrupted.abort();
      }
      if (!isOver && this.#random.between(0, 2) === 0) await this.#change(namedBy(path));
      if (!isOver && this.#command === 'mirror') await this.#changeTarget(method, path);
    };
    const forget: (() => void)[] = [];
    for (const front of Object.values(fronts)) {
      const isOwn = (method: string, path: string): boolean => !isOver && isOf(this.#id, path) && mine(method, path);
      forget.push(front.before(isOwn, act, Infinity), front.after(isOwn, act, Infinity));
    }
    const running =
      child?.ended.then(({ code, stderr }) => ({ code, stderr })) ??
      runCoffer(this.arguments, { env: environment(), signal: interrupted.signal });
    const writing = this.#changeAtTimes(() => isOver);
    const { code, stderr } = await running;
    isOver = true;
    await writing;
    // The command does not wait for what happens during a request that it has broken off.
    await Promise.allSettled([this.#changing]);
    for (const one of forget) one();
    return `${code} ${stderr}`;
  }

  /** The requests of a command do not tell when it reads and removes files. */
  async #changeAtTimes(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      await sleep(this.#random.between(0, 12));
      if (!isOver() && this.#random.between(0, 2) === 0) await this.#change();
    }
  }

  /** One change follows the other, so that the program knows what each name holds. */
  async #inTurn(change: () => Promise<void>): Promise<void> {
    const changed = this.#changing.then(change);
    this.#changing = changed;
    await changed;
  }

  async #change(name = this.#oneOf(names)): Promise<void> {
    await this.#inTurn(async () => this.#changeOne(name));
  }

  async #changeOne(name: string): Promise<void> {
    if (this.#source instanceof WrittenFolder && this.#random.between(0, 29) === 0) this.#source.linkFolder('d');
    const { kind, make } = this.#oneOf(this.#source.changes);
    const text = this.#newText();
    await make(name, text);
    this.#written.changed(name, kind, text);
  }

  /** Writes to a name that the command is about to remove: it has listed the target. */
  async #changeTarget(method: string, path: string): Promise<void> {
    const name = extraneous.find((one) => path.includes(`/${one}`) || path.includes(encodeURIComponent(`/${one}`)));
    const isCheck = method === 'HEAD' || path.includes('max-keys=1&') || method === 'DELETE';
    if (name === undefined || !isCheck || this.#random.between(0, 1) === 0) return;
    await this.#inTurn(async () => {
      const text = this.#newText();
      await this.#target.write(name, text);
      this.#protected.set(name, text);
    });
  }

  /** Returns what is lost, or is stored as no program wrote it. */
  async #loss(): Promise<string | undefined> {
    const [source, target] = [await this.#source.contents(), await this.#target.contents()];
    const remains = [...(await this.#source.remains()), ...(await this.#target.remains())].join('');
    for (const [name, texts] of this.#written.kept) {
      for (const text of texts) if (!remains.includes(text)) return `${short(text)} of ${name} is nowhere`;
      const copied = target.get(name);
      if (copied !== undefined && this.#written.states.get(name)?.has(copied) !== true)
        return `${name} was stored as ${short(copied)}`;
    }
    for (const [name, text] of this.#protected) {
      if (target.get(name) !== text) return `${short(text)} was removed from ${name} of the target`;
    }
    if (this.#command === 'mv') return undefined;
    for (const [name, text] of this.#written.present)
      if (source.get(name) !== text) return `the source has ${short(source.get(name) ?? 'nothing')} as ${name}`;
    return undefined;
  }

  /** Runs the command again while nothing changes. Returns what did not arrive, or arrived in another state. */
  async #leftBehind(): Promise<string | undefined> {
    const before = await this.#source.contents();
    const { code, stderr } = await runCoffer(this.arguments, { env: environment() });
    // The command follows no links, and --remove asks before it empties the target.
    const isEmpty = before.size === 0 || stderr.includes('The source is empty');
    if (code !== 0) return isEmpty ? undefined : `the second run ended with ${code}: ${stderr}`;
    const target = await this.#target.contents();
    for (const [name, text] of before) {
      if (target.get(name) !== text && !stderr.includes('links to folders'))
        return `${name} is ${short(target.get(name) ?? 'absent')} instead of ${short(text)} after the second run`;
    }
    return undefined;
  }
}

/** The name that a request is about; undefined for a listing. */
function namedBy(path: string): string | undefined {
  return names.find((name) => path.includes(`/${name}`) || path.includes(encodeURIComponent(`/${name}`)));
}

/** `h1` is not `h11`. */
function isOf(id: string, path: string): boolean {
  return new RegExp(`\\b${id}(?:/|%2F)`).test(path);
}

function short(text: string): string {
  return text.length > 60 ? `${text.slice(0, 40)}… (${text.length} characters)` : text;
}

function hostOf({ url }: WatchedFront, { accessKey, secretKey }: ServerAccess): string {
  return url.replace('http://', `http://${accessKey}:${secretKey}@`);
}

function environment(): Record<string, string> {
  return {
    COFFER_CONFIG_DIR: join(folder, 'config'),
    COFFER_HOST_s: hostOf(fronts.s, server),
    COFFER_HOST_t: hostOf(fronts.t, server),
    COFFER_HOST_o: hostOf(fronts.o, other),
  };
}

it(
  `loses no byte in ${histories} histories of mv, cp and mirror`,
  { timeout: 180_000 + histories * 1_000 },
  async () => {
    const lost: string[] = [];
    let kills = 0;
    await forEachLimit(
      Array.from({ length: histories }, (_, at) => at),
      8,
      async (number) => {
        const isKilled = number % killedEvery === killedEvery - 1;
        if (isKilled) kills += 1;
        const loss = await new History(number).run(isKilled);
        if (loss !== undefined) lost.push(loss);
        forgetTexts(`<h${number}.`);
        await rm(join(folder, `h${number}`), { recursive: true, force: true });
      },
    );
    report(
      `${histories} histories with another writer, ${kills} of them killed, seed ${seed}: ${lost.length} with a loss`,
    );
    expect(lost).toEqual([]);
  },
);
