import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import {
  aliasFromEnvironment,
  checkAliasName,
  checkKeys,
  type Alias,
  deleteAlias,
  findAlias,
  type ForeignFields,
  writeAlias,
} from '../../config/aliases.ts';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import { removeLogin } from '../../config/logins.ts';
import type { Context } from '../context.ts';
import { singleAttempt } from '../../s3/retry.ts';
import { ask, canAsk, warnOfArguments } from '../../terminal/prompt.ts';
import { trustedUrl, type TrustOptions } from './trust-server.ts';
import { ResponseError } from '../../../protocol/response-error.ts';

interface AliasSetOptions extends TrustOptions {
  readonly api?: string;
  readonly path?: string;
}

/** Adds or replaces an alias, after the user trusts the server and the server has accepted the keys. */
export async function setAlias(
  context: Context,
  [given = '', url = '', givenAccessKey, givenSecretKey]: readonly string[],
  options: AliasSetOptions,
): Promise<void> {
  const name = bareName(given);
  checkAliasName(name);
  const path = checkPath(options.path ?? 'auto');
  if (options.api !== undefined && options.api.toLowerCase() !== 's3v4') {
    throw new ProgramError('BadArgument', `Unsupported API \`${options.api}\`: this client signs by S3v4`);
  }
  const trusted = await trustedUrl(context, name, url, options);
  const [accessKey, secretKey] = await completeKeys(context, givenAccessKey, givenSecretKey);
  checkKeys(accessKey, secretKey);
  const alias: Alias = { url: trusted, accessKey, secretKey, api: 'S3v4', path };
  await probe(context, name, alias);
  await saveAlias(context, name, alias, 'Added');
}

/** Writes an alias, and says so. A login under the same name belongs to the alias before. */
export async function saveAlias(
  context: Context,
  name: string,
  alias: Alias,
  verb: 'Added' | 'Imported',
  foreign: ForeignFields = {},
): Promise<void> {
  await writeAlias(context, name, alias, foreign);
  await removeLogin(context, name);
  context.output.message(`${verb} \`${name}\` successfully.`, {
    alias: name,
    ...describe(alias),
    secretKey: '********',
  });
}

export async function listAliases(context: Context, [given]: readonly string[]): Promise<void> {
  const aliases = await context.aliases();
  const name = given === undefined ? undefined : bareName(given);
  const wanted = name === undefined ? [...aliases] : ([[name, findAlias(aliases, name)]] as const);
  for (const [known, alias] of [...wanted].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const fields = describe(alias);
    const block = [
      known,
      ...Object.entries({
        URL: fields.URL,
        AccessKey: fields.accessKey,
        SecretKey: fields.secretKey,
        API: fields.api,
        Path: fields.path,
      }).map(([label, value]) => `  ${label.padEnd(10)}: ${value}`),
    ];
    const isOfEnvironment = aliasFromEnvironment(known, context.io.env) !== undefined;
    const src = isOfEnvironment ? 'env' : join(context.folder, 'config.json');
    context.output.message(`${block.join('\n')}\n`, { alias: known, ...fields, src });
  }
}

export async function removeAlias(context: Context, [given = '']: readonly string[]): Promise<void> {
  const name = bareName(given);
  await deleteAlias(context, name);
  await removeLogin(context, name);
  context.output.message(`Removed \`${name}\` successfully.`, { alias: name, URL: '' });
}

/** Completion writes a slash after an alias. */
function bareName(text: string): string {
  return text.replace(/\/+$/, '');
}

function describe({ url, accessKey, secretKey, api, path }: Alias) {
  return { URL: url, accessKey, secretKey, api, path };
}

function checkPath(path: string): Alias['path'] {
  if (path === 'auto' || path === 'on' || path === 'off') return path;
  throw new ProgramError('BadArgument', `Invalid --path \`${path}\`: it is auto, on or off`);
}

/** Returns the keys: those of the command line, of the environment, or of the user, who types them or sends a line for each. */
async function completeKeys(
  { io, output }: Context,
  givenAccessKey: string | undefined,
  givenSecretKey: string | undefined,
): Promise<[string, string]> {
  if (givenSecretKey) warnOfArguments({ output }, 'secret key');
  const accessKey = givenAccessKey ?? io.env['COFFER_ACCESS_KEY'];
  const secretKey = givenSecretKey ?? io.env['COFFER_SECRET_KEY'];
  const questions = [
    ...(accessKey === undefined ? [{ text: 'Enter Access Key: ', secret: false }] : []),
    ...(secretKey === undefined ? [{ text: 'Enter Secret Key: ', secret: true }] : []),
  ];
  if (questions.length === 0) return [accessKey ?? '', secretKey ?? ''];
  const answers = await ask(io, questions);
  if (!canAsk(io) && answers.every((answer) => answer === '')) {
    throw new ProgramError(
      'BadArgument',
      "The keys are missing: send each as a line to standard input, or set COFFER_ACCESS_KEY and COFFER_SECRET_KEY; for anonymous access write '' ''",
    );
  }
  return [accessKey ?? answers.shift() ?? '', secretKey ?? answers.shift() ?? ''];
}

/** Requests a bucket that does not exist. A server checks the signature before it looks for the bucket. */
async function probe(context: Context, name: string, alias: Alias): Promise<void> {
  const client = await context.client(alias);
  const bucket = `probe-bsign-${randomBytes(8).toString('hex')}`;
  try {
    const { text } = await client.text({ method: 'GET', bucket, query: { location: '' }, retries: singleAttempt });
    // The port of a console answers every address with its page.
    if (!text.includes('LocationConstraint')) throw new Error(notS3(text));
  } catch (error) {
    if (error instanceof ResponseError && (error.code === 'NoSuchBucket' || error.code === 'AccessDenied')) return;
    throw new ProgramError(
      'BadAlias',
      `Unable to initialize the new alias \`${name}\` at ${alias.url}; it was not saved`,
      {
        cause: error,
      },
    );
  }
}

function notS3(text: string): string {
  const what = /^\s*<(!doctype html|html)/i.test(text) ? 'a page for browsers' : 'another document';
  return `no S3 server answers there, but ${what}: name the port of S3 (9000, where nothing else is set), not that of a console`;
}
