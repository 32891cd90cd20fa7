import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { wholeProgram } from '../../cli/program.ts';
import { makeProgram } from '../../keysvc/commands/program.ts';
import { expandEnvironment, parseConfig } from '../../keysvc/config/config-file.ts';
import { toKeyStoreSettings } from '../../keysvc/config/to-keystore-settings.ts';
import { validate } from '../../operator/api/validate.ts';
import { commands as pluginCommands } from '../../operator/plugin/program.ts';
import { kubernetesCommand } from '../../operator/runtime/kubernetes/kubernetes-command.ts';
import { settings } from '../../protocol/settings/table.ts';
import { knownActions } from '../../protocol/policy/known-names.ts';
import { parseBucketPolicy, parsePolicyDocument } from '../../protocol/policy/parse-policy.ts';
import { parseEnvFile } from '../../platform/settings/setting-source.ts';
import { serverCommand } from '../../server/process/command-line.ts';
import { buildProgram as storeProgram } from '../../server/store-tool/program.ts';
import { commandLinesOf, errorsOf } from './command-lines.ts';

// What the pages name is there: commands and flags, variables, metrics, admin calls and actions of policies; and their blocks are valid for
// the program that reads them. What is not there, and is named as such, is listed here.

const root = fileURLToPath(new URL('../..', import.meta.url));
const tracked = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 })
  .trim()
  .split('\n');
const pages = tracked.filter((path) =>
  /^(?:README|CONTRIBUTING|ARCHITECTURE)\.md$|^docs\/(?:guides\/)?[\w-]+\.md$|^(?:examples|charts|bench)\/.*README\.md$/.test(
    path,
  ),
);
const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const sources = tracked
  .filter((path) =>
    /^(?:server|keysvc|operator|cli|platform|protocol|bench|test|\.ci|charts|examples|bin)\//.test(path),
  )
  .filter((path) => !/\.(?:md|png|zip|gz|parquet)$/.test(path) && !path.startsWith('test/guides/'))
  .map(read)
  .join('\n');
/** The words of the sources: a search in them for each name of each page took a minute. */
const words = new Set(sources.match(/[\w:]+/g));

/** Refused by name, which the guides say. */
const absentCommands = ['admin: no command heal'];

/** The service of MinIO reads it, and the guide says what to write instead. */
const absentVariables = ['MINIO_OPTS'];

let programs: ReadonlyMap<string, Command>;

beforeAll(async () => {
  const { program: client } = await wholeProgram();
  // The programs are not run, so that they need no terminal and no connection.
  const none = {} as never;
  programs = new Map([
    ['coffer', client],
    ['mc', client],
    ['keysvc', makeProgram(none)],
    ['coffer-server', serverCommand()],
    ['coffer-store', storeProgram(none, () => undefined)],
    ['coffer-operator kubernetes', kubernetesCommand({})],
    ['kubectl coffer', pluginCommands(none, () => undefined)],
  ]);
});

/** The blocks of a page in a language, without the indentation of a list. */
function blocksOf(page: string, languages: string): readonly string[] {
  const blocks = page.matchAll(new RegExp(`^( *)\`\`\`(?:${languages})\\n(.*?)^ *\`\`\``, 'gms'));
  return [...blocks].map(([, indent = '', block = '']) => block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''));
}

/** A name is known whole, or as one with an ID at its end, or as the beginning of several. */
function isVariable(name: string): boolean {
  if (words.has(name) || sources.includes(`'${name}_'`)) return true;
  return variables.some((variable) => name.startsWith(`${variable}_`) || variable.startsWith(name));
}

const variables = settings.flatMap((row) =>
  [row.name, ...row.aliases].flatMap((name) => (row.secret ? [name, `${name}_FILE`] : [name])),
);

/** A source may have the name without its beginning. A histogram has names of its own. */
function isMetric(name: string): boolean {
  if (words.has(name)) return true;
  return [/_(?:bucket|count|sum)$/, /^(?:coffer|minio|kes)_/].some((part) => sources.includes(name.replace(part, '')));
}

function isAction(name: string): boolean {
  return knownActions.includes(name) || words.has(name);
}

function lastWord(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Every variable has the form of an identity, since those are checked. */
const environment = new Proxy({}, { get: () => 'a'.repeat(64), has: () => true });

describe.each(pages)('%s', (path) => {
  const page = read(path);

  it('calls commands with flags that exist', () => {
    const errors = commandLinesOf(page).flatMap((call) => errorsOf(call, programs).map((error) => `${call}: ${error}`));
    expect(errors.filter((error) => !absentCommands.some((absent) => error.endsWith(absent)))).toEqual([]);
  });

  it('names variables that a program reads', () => {
    const names = page.match(/\b(?:SVC|MINIO|COFFER|KEYSVC)_[A-Z0-9_]*[A-Z0-9]/g) ?? [];
    expect(names.filter((name) => !isVariable(name) && !absentVariables.includes(name))).toEqual([]);
  });

  it('names metrics that a program has', () => {
    const names = (page.match(/`(?:coffer|minio|kes)_[a-z0-9_]+/g) ?? []).map((name) => name.slice(1));
    expect([...new Set(names)].filter((name) => !isMetric(name))).toEqual([]);
  });

  it('names actions that a policy may have', () => {
    const names = page.match(/`(?:s3|admin|kms|sts):[A-Z][A-Za-z]+`/g) ?? [];
    expect(names.map((name) => name.slice(1, -1)).filter((name) => !isAction(name))).toEqual([]);
  });

  it('names admin calls that are served', () => {
    const paths = page.match(/\/minio\/admin\/coffer\/v1\/[a-z/-]*[a-z]/g) ?? [];
    // A route has its last word, or a choice of such words.
    expect(
      paths.filter(
        (full) =>
          !lastWord(full)
            .split('-')
            .every((word) => words.has(word)),
      ),
    ).toEqual([]);
  });

  it('has resources that the API server takes', () => {
    const documents = blocksOf(page, 'ya?ml').flatMap((block) => parseAllDocuments(block).map((each) => each.toJS()));
    const resources = documents.filter((each: { apiVersion?: string }) => each?.apiVersion === 'coffer.dev/v1alpha1');
    const checked = resources.map((resource) => validate(resource, undefined, { asApiServer: true }));
    expect(checked.flatMap((each) => (each.kind === 'invalid' ? each.problems : []))).toEqual([]);
  });

  it('has configurations that the key service takes', () => {
    const blocks = blocksOf(page, 'ya?ml').filter((block) => /^keystore:/m.test(block));
    for (const block of blocks) {
      const { keystore } = expandEnvironment(parse(block), environment) as { keystore: Record<string, unknown> };
      expect(() => toKeyStoreSettings(keystore)).not.toThrow();
      if (/^address:/m.test(block)) expect(() => parseConfig(block, environment)).not.toThrow();
    }
  });

  it('has policies that the server takes', () => {
    for (const block of blocksOf(page, 'json')) {
      const document = JSON.parse(block) as { Statement?: unknown; Effect?: unknown };
      const policy = document.Effect === undefined ? document : { Version: '2012-10-17', Statement: [document] };
      if (policy.Statement === undefined) continue;
      const [, bucket = ''] = /arn:aws:s3:::([^/"*]+)/.exec(block) ?? [];
      const parse = () =>
        block.includes('"Principal"') ? parseBucketPolicy(policy, bucket) : parsePolicyDocument(policy);
      expect(parse).not.toThrow();
    }
  });

  it('has blocks of a shell that the shell can read', () => {
    for (const block of blocksOf(page, 'sh|bash|console|')) {
      if (!/^(?:coffer|mc|npm|export|curl|kubectl|docker|helm|keysvc)\b/m.test(block)) continue;
      execFileSync('bash', ['-n'], { input: block.replaceAll('…', 'x'), stdio: ['pipe', 'pipe', 'pipe'] });
    }
  });
});

/** The lines of a page that set one variable of the server each, to a value that the shell does not compute. */
function assignmentsOf(page: string): readonly string[] {
  const found = [...page.matchAll(/^ *((?:export )?(?:SVC|MINIO)_[A-Z0-9_]*=(.*))$/gm)];
  return found.filter(([, , value = '']) => !/\$\(| (?:[A-Z]+_|\w+-)/.test(value)).map(([, line = '']) => line);
}

/** The variables that a shell has after lines. */
function valuesInShell(lines: string): Readonly<Record<string, string>> {
  const script = `set -a; ${lines}\nenv -0`;
  const values = execFileSync('bash', ['--norc', '-c', script], {
    env: { PATH: process.env['PATH'] },
    encoding: 'utf8',
  });
  const pairs = values.split('\0').map((pair) => pair.split(/=(.*)/s, 2) as [string, string]);
  return Object.fromEntries(pairs.filter(([name]) => /^(?:SVC|MINIO)_/.test(name)));
}

describe.each(pages)('the settings in %s', (path) => {
  it('mean the same in a shell and in the file of settings', () => {
    const lines = assignmentsOf(read(path)).join('\n');
    if (lines === '') return;
    // zsh, the shell of macOS, looks for files of an unquoted pattern, and refuses the line where there are none.
    expect(lines.replaceAll(/'[^']*'|"[^"]*"|#.*/g, '')).not.toMatch(/[?*[]/);
    expect(valuesInShell(lines)).toEqual(Object.fromEntries(parseEnvFile(lines, path)));
  });
});

/** The aliases of the places `ALIAS/bucket` in the calls of a page. */
function aliasesOf(page: string): readonly string[] {
  // The argument of `explain` begins with a bucket.
  const calls = commandLinesOf(page).filter((call) => /^(?:coffer|mc) (?!admin policy explain)/.test(call));
  return [
    ...new Set(
      calls.flatMap((call) => [...call.matchAll(/\s'?([a-z][a-z0-9]*)\/[a-z]/g)].map(([, name = '']) => name)),
    ),
  ];
}

describe.each(pages.filter((path) => path.startsWith('docs/guides/')))('the commands of %s', (path) => {
  it('use aliases that the page sets or explains', () => {
    const page = read(path);
    const isKnown = (alias: string) =>
      new RegExp(`(?:alias set|login) ${alias}\\b|alias(?:es)? \`${alias}\`|\`${alias}\`[^.]{0,80}\\balias`).test(page);
    expect(aliasesOf(page).filter((alias) => !isKnown(alias))).toEqual([]);
  });
});

describe('the check of command lines', () => {
  it.each([
    ['coffer ilm rule add mine/logs --expire-day 30', 'add: no flag --expire-day'],
    ['coffer admin usr list mine', 'admin: no command usr'],
    ['mc rm -rqX mine/b', 'rm: no flag -X'],
    ['coffer admin user add|lst mine', 'user: no command lst'],
    ['keysvc key create -k my-key --force', 'create: no flag --force'],
    ['coffer-store verify /data --fast', 'verify: no flag --fast'],
  ])('refuses `%s`', (call, error) => {
    expect(errorsOf(call, programs)).toContain(error);
  });

  it('finds the calls of blocks and spans, without remarks, variables and what comes after a pipe', () => {
    const page = 'Do `mc ls a` and:\n\n    A=b coffer cp x \\\n      y  # copies\n    coffer cat x | coffer pipe y\n';
    expect(commandLinesOf(page)).toEqual(['mc ls a', 'coffer cp x y', 'coffer cat x', 'coffer pipe y']);
  });
});
