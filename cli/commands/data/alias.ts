import { randomBytes } from 'node:crypto';
import {
  checkAliasName,
  checkKeys,
  checkUrl,
  type Alias,
  findAlias,
  readAliases,
  writeAliases,
} from '../../config/aliases.ts';
import { CliError } from '../../config/cli-error.ts';
import type { Context } from '../context.ts';
import { singleAttempt } from '../../s3/retry.ts';
import { S3ResponseError } from '../../s3/s3-response-error.ts';
import { ask } from '../../terminal/prompt.ts';

interface AliasSetOptions {
  readonly api?: string;
  readonly path?: string;
}

/** Adds or replaces an alias, after the server has accepted its keys. */
export async function setAlias(
  context: Context,
  [name = '', url = '', givenAccessKey, givenSecretKey]: readonly string[],
  options: AliasSetOptions,
): Promise<void> {
  checkAliasName(name);
  const checkedUrl = checkUrl(url);
  const path = checkPath(options.path ?? 'auto');
  if (options.api !== undefined && options.api.toLowerCase() !== 's3v4') {
    throw new CliError('BadArgument', `Unsupported API \`${options.api}\`: this client signs by S3v4`);
  }
  const [accessKey, secretKey] = await completeKeys(context, givenAccessKey, givenSecretKey);
  checkKeys(accessKey, secretKey);
  const alias: Alias = { url: checkedUrl, accessKey, secretKey, api: 'S3v4', path };
  await probe(context, name, alias);
  const aliases = await readAliases(context.folder);
  await writeAliases(context.folder, aliases.set(name, alias));
  context.output.message(`Added \`${name}\` successfully.`, { alias: name, ...describe(alias), secretKey: '********' });
}

export async function listAliases(context: Context, [name]: readonly string[]): Promise<void> {
  const aliases = await context.aliases();
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
    context.output.message(`${block.join('\n')}\n`, { alias: known, ...fields });
  }
}

export async function removeAlias(context: Context, [name = '']: readonly string[]): Promise<void> {
  const aliases = await readAliases(context.folder);
  findAlias(aliases, name);
  aliases.delete(name);
  await writeAliases(context.folder, aliases);
  context.output.message(`Removed \`${name}\` successfully.`, { alias: name });
}

function describe({ url, accessKey, secretKey, api, path }: Alias) {
  return { URL: url, accessKey, secretKey, api, path };
}

function checkPath(path: string): Alias['path'] {
  if (path === 'auto' || path === 'on' || path === 'off') return path;
  throw new CliError('BadArgument', `Invalid --path \`${path}\`: it is auto, on or off`);
}

async function completeKeys(
  context: Context,
  accessKey: string | undefined,
  secretKey: string | undefined,
): Promise<[string, string]> {
  const questions = [
    ...(accessKey === undefined ? [{ text: 'Enter Access Key: ', secret: false }] : []),
    ...(secretKey === undefined ? [{ text: 'Enter Secret Key: ', secret: true }] : []),
  ];
  const answers = questions.length === 0 ? [] : await ask(context.io, questions);
  return [accessKey ?? answers.shift() ?? '', secretKey ?? answers.shift() ?? ''];
}

/** Requests a bucket that does not exist. A server checks the signature before it looks for the bucket. */
async function probe(context: Context, name: string, alias: Alias): Promise<void> {
  const client = await context.client(alias);
  const bucket = `probe-bsign-${randomBytes(8).toString('hex')}`;
  try {
    await client.text({ method: 'GET', bucket, query: { location: '' }, retries: singleAttempt });
  } catch (error) {
    if (error instanceof S3ResponseError && (error.code === 'NoSuchBucket' || error.code === 'AccessDenied')) return;
    throw new CliError('BadAlias', `Unable to initialize the new alias \`${name}\` at ${alias.url}; it was not saved`, {
      cause: error,
    });
  }
}
