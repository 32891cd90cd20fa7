import { fileErrorReason } from '../../platform/errors/system-error.ts';
import { ProgramError } from '../../platform/errors/program-error.ts';
import { readTextFile } from '../../platform/settings/read-setting-file.ts';
import type { Command } from 'commander';
import { callKeyServer, connected, type CallOptions, fieldLines } from './call-key-server.ts';
import { printable } from '../../platform/text/printable.ts';
import { type Terminal } from './terminal.ts';

export function addPolicy(program: Command, terminal: Terminal): void {
  const policy = program
    .command('policy')
    .description('policies of a key server')
    .addHelpText(
      'after',
      `
A server that runs from a configuration file keeps its policies there: change them in the file, which is read again by itself.
create, assign and rm are for servers that keep policies themselves.`,
    );
  addReading(policy, terminal);
  addWriting(policy, terminal);
}

function addReading(policy: Command, terminal: Terminal): void {
  connected(policy.command('ls [pattern]').description('list policies')).action(
    (pattern: string | undefined, options: CallOptions) =>
      callKeyServer(terminal, options, async (client) => {
        const text = await client.ask('GET', `/v1/policy/list/${encodeURIComponent(pattern ?? '*')}`);
        const { listedPolicy, readListing } = await import('./answers.ts');
        const names = readListing(text, listedPolicy, (name) => ({ name })).map(({ name }) => name);
        terminal.write(
          options.json === true ? `${JSON.stringify(names)}\n` : names.map((name) => `${printable(name)}\n`).join(''),
        );
      }),
  );
  connected(policy.command('info <name>').description('show the creation of a policy')).action(
    (name: string, options: CallOptions) =>
      callKeyServer(terminal, options, async (client) => {
        const text = await client.ask('GET', `/v1/policy/describe/${encodeURIComponent(name)}`);
        if (options.json === true) return terminal.write(`${text}\n`);
        const { policyAnswer } = await import('./answers.ts');
        const { created_at, created_by } = policyAnswer.parse(JSON.parse(text));
        terminal.write(
          fieldLines([
            ['Name', name],
            ['Created', created_at],
            ['Created by', created_by],
          ]),
        );
      }),
  );
  connected(policy.command('show <name>').description('show what a policy allows and denies')).action(
    (name: string, options: CallOptions) =>
      callKeyServer(terminal, options, async (client) => {
        const { policyAnswer } = await import('./answers.ts');
        const { allow, deny } = policyAnswer.parse(
          JSON.parse(await client.ask('GET', `/v1/policy/read/${encodeURIComponent(name)}`)),
        );
        if (options.json === true) {
          return terminal.write(`${JSON.stringify({ allow: allow ?? [], deny: deny ?? [] })}\n`);
        }
        // The format of the configuration file.
        for (const [kind, list] of [['allow', allow ?? []] as const, ['deny', deny ?? []] as const]) {
          if (list.length === 0) continue;
          terminal.write(`${kind}:\n${list.map((pattern) => `- ${printable(pattern)}\n`).join('')}`);
        }
      }),
  );
}

function addWriting(policy: Command, terminal: Terminal): void {
  connected(policy.command('create <name> <file>').description('make a policy of a file with allow and deny')).action(
    async (name: string, file: string, options: CallOptions) => {
      const body = await readPolicy(file);
      await callKeyServer(terminal, options, async (client) => {
        await client.ask('POST', `/v1/policy/write/${encodeURIComponent(name)}`, body);
      });
    },
  );
  connected(policy.command('assign <name> <identity>').description('give an identity a policy')).action(
    (name: string, identity: string, options: CallOptions) =>
      callKeyServer(terminal, options, async (client) => {
        await client.ask('POST', `/v1/policy/assign/${encodeURIComponent(name)}`, { identity });
      }),
  );
  connected(policy.command('rm <name>').description('remove a policy')).action((name: string, options: CallOptions) =>
    callKeyServer(terminal, options, async (client) => {
      await client.ask('DELETE', `/v1/policy/delete/${encodeURIComponent(name)}`);
    }),
  );
}

interface PolicyBody {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
}

/** @throws ProgramError when the file is not a policy */
async function readPolicy(file: string): Promise<PolicyBody> {
  const text = await readTextFile(file).catch((error: unknown) => {
    throw new ProgramError('usage', `cannot read the policy ${file}: ${fileErrorReason(error)}`, { cause: error });
  });
  try {
    const { parse } = await import('yaml');
    const policy: unknown = parse(text);
    if (isPolicy(policy)) return policy;
    throw new TypeError('it holds something else');
  } catch (error) {
    throw new ProgramError(
      'usage',
      `${file} is no policy (YAML or JSON with the lists "allow" and "deny"): ${(error as Error).message}`,
      { cause: error },
    );
  }
}

function isPolicy(value: unknown): value is PolicyBody {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).every(
    ([name, list]) =>
      (name === 'allow' || name === 'deny') &&
      Array.isArray(list) &&
      list.every((pattern) => typeof pattern === 'string'),
  );
}
