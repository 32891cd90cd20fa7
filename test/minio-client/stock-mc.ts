import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { runCommand, tool } from '../support/process/run-command.ts';

interface McReply {
  readonly code: number | null;
  /** One for each document of JSON. */
  readonly lines: readonly Readonly<Record<string, unknown>>[];
  /** All that was printed, for where something goes wrong. */
  readonly text: string;
}

/** Stock `mc` with a configuration of its own, below a folder of the test's. */
export class StockMc {
  readonly #program = tool('bin/mc', 'mc');
  readonly #folder: string;
  readonly #env: Readonly<Record<string, string>> | undefined;

  /** `env` has aliases (`MC_HOST_NAME`); without it the environment of the tests counts. */
  constructor(folder: string, env?: Readonly<Record<string, string>>) {
    this.#folder = folder;
    this.#env = env;
  }

  /** Whatever comes of it. */
  async try(...args: readonly string[]): Promise<McReply> {
    const options = ['--config-dir', join(this.#folder, 'mc'), '--disable-pager', '--json'];
    // Exports are put where it runs.
    const { code, stdout, stderr } = await runCommand(this.#program, [...options, ...args], {
      cwd: this.#folder,
      ...(this.#env === undefined ? {} : { env: this.#env }),
    });
    return {
      code,
      lines: documents(stdout).map((document) => JSON.parse(document) as Readonly<Record<string, unknown>>),
      text: `mc ${args.join(' ')}\n${stdout}${stderr}`,
    };
  }

  /** Expects success. */
  async run(...args: readonly string[]): Promise<McReply['lines']> {
    const reply = await this.try(...args);
    expect(reply, reply.text).toMatchObject({ code: 0 });
    return reply.lines;
  }

  /** Runs a command that goes on for ever until it prints a line that fits, stirring now and then. */
  async untilPrinted(
    args: readonly string[],
    fits: (line: Readonly<Record<string, unknown>>) => boolean,
    stir: () => Promise<unknown> = () => Promise.resolve(),
  ): Promise<Readonly<Record<string, unknown>>> {
    const options = ['--config-dir', join(this.#folder, 'mc'), '--json', ...args];
    const child = spawn(this.#program, options, { stdio: ['ignore', 'pipe', 'inherit'] });
    const found = Promise.withResolvers<Readonly<Record<string, unknown>>>();
    let document = '';
    createInterface({ input: child.stdout }).on('line', (line) => {
      document += line;
      // Some are on many lines, of which only the last begins with a bracket.
      if (line !== '}' && !(line.startsWith('{') && line.endsWith('}'))) return;
      const value = JSON.parse(document) as Readonly<Record<string, unknown>>;
      document = '';
      if (fits(value)) found.resolve(value);
    });
    child.on('exit', (code) => found.reject(new Error(`mc ended with ${code}`)));
    const over = new AbortController();
    const stirring = (async () => {
      for (; !over.signal.aborted; await sleep(200)) await stir();
    })();
    try {
      return await found.promise;
    } finally {
      over.abort();
      child.kill('SIGKILL');
      await stirring;
    }
  }

  async alias(name: string, url: string, accessKey: string, secretKey: string): Promise<void> {
    await this.run('alias', 'set', name, url, accessKey, secretKey);
  }
}

/** Most answers have a line each; policies, reports and states of jobs have many. */
function documents(output: string): string[] {
  const lines = output.split('\n').filter((line) => line.startsWith('{') && line.endsWith('}'));
  return lines.length === 0 && output.startsWith('{') ? output.split(/\n(?=\{)/) : lines;
}

/** Errors that have another name here: the reference says which, and why. */
const sameErrors: Readonly<Record<string, string>> = {
  XMinioIAMPolicyInUse: 'XMinioAdminPolicyInUse',
  XMinioInvalidIAMCredentials: 'XMinioAdminNoSuchAccessKey',
  XMinioIAMServiceAccountNotAllowed: 'XMinioAdminAccessKeyInUse',
};

/** What Coffer says of each access key in a list, and MinIO leaves empty. */
const saidByCoffer = ['parentUser', 'accountStatus', 'impliedPolicy', 'name', 'description'];

/** Runs a command line for each of two aliases, `ALIAS` in it, and expects the same of both but for times, made-up keys and wording. */
export async function expectSame(mc: StockMc, command: string, aliases: readonly [string, string]): Promise<McReply> {
  const [ours, theirs] = await Promise.all(
    aliases.map((alias) => mc.try(...command.split(' ').map((word) => word.replaceAll('ALIAS', alias)))),
  );
  if (ours === undefined || theirs === undefined) throw new Error('there are two');
  expect(comparable(ours), `${ours.text}\n${theirs.text}`).toEqual(comparable(theirs));
  return ours;
}

function comparable({ code, lines }: McReply): unknown {
  // Some lists come in the order of a hash map.
  return { code, lines: lines.map((line) => JSON.stringify(withoutChance(line))).toSorted() };
}

function withoutChance(value: unknown, name = ''): unknown {
  if (typeof value === 'string') return ofText(value);
  if (Array.isArray(value)) {
    const parts = value.map((one) => withoutChance(one, name));
    return parts.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  }
  if (typeof value !== 'object' || value === null) return value;
  if (name === 'error' && 'Code' in value) return sameErrors[String(value.Code)] ?? value.Code;
  const entries = Object.entries(value)
    // The wording is each server's own.
    .filter(([field]) => !(name === 'cause' && field === 'message'))
    .filter(([field]) => !(name === 'svcaccs' && saidByCoffer.includes(field)))
    .map(([field, part]) => [field, withoutChance(part, field)] as const);
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

const time = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

function ofText(text: string): string {
  if (time.test(text) && !text.startsWith('1970-')) return 'a time';
  if (/^[0-9A-Z]{20}$/.test(text)) return 'an access key';
  return /^[0-9A-Za-z+/]{40}$/.test(text) ? 'a secret key' : text;
}
