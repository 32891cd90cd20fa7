import { readFile } from 'node:fs/promises';
import {
  checkAliasName,
  checkKeys,
  checkUrl,
  findAlias,
  readAliases,
  writeAliases,
  type Alias,
} from '../../config/aliases.ts';
import { CliError } from '../../config/cli-error.ts';
import { readAll } from '../../terminal/io.ts';
import type { Context } from '../context.ts';

/** Prints an alias of config.json with its keys, for `importAlias`. */
export async function exportAlias(context: Context, [name = '']: readonly string[]): Promise<void> {
  checkAliasName(name.replace(/\/$/, ''));
  const { url, accessKey, secretKey, sessionToken, api, path } = findAlias(
    await readAliases(context.folder),
    name.replace(/\/$/, ''),
  );
  const fields = { url, accessKey, secretKey, ...(sessionToken !== undefined && { sessionToken }), api, path };
  context.io.stdout.write(`${JSON.stringify(fields)}\n`);
}

/** Adds the alias of a file or of standard input. The server is not asked. */
export async function importAlias(context: Context, [name = '', file]: readonly string[]): Promise<void> {
  const known = name.replace(/\/$/, '');
  checkAliasName(known);
  const text = file === undefined || file.trim() === '' ? await readAll(context.io) : await readFile(file, 'utf8');
  const alias = parseAlias(text);
  const aliases = await readAliases(context.folder);
  await writeAliases(context.folder, aliases.set(known, alias));
  const { url, accessKey, secretKey, api, path } = alias;
  context.output.message(`Imported \`${known}\` successfully.`, {
    alias: known,
    URL: url,
    accessKey,
    secretKey: masked(secretKey),
    api,
    path,
  });
}

function masked(secret: string): string {
  return secret === '' ? '' : '********';
}

function parseAlias(text: string): Alias {
  let fields: Readonly<Record<string, unknown>>;
  try {
    fields = JSON.parse(text) as Readonly<Record<string, unknown>>;
  } catch {
    // The cause would quote the text, which has a secret.
    throw new CliError('BadArgument', 'The alias to import is no JSON; `coffer alias export` prints what is expected');
  }
  const textOf = (name: string): string => (typeof fields[name] === 'string' ? fields[name] : '');
  const [url, accessKey, secretKey] = [checkUrl(textOf('url')), textOf('accessKey'), textOf('secretKey')];
  checkKeys(accessKey, secretKey);
  const api = textOf('api').toLowerCase();
  if (api !== '' && api !== 's3v4')
    throw new CliError('BadArgument', `Unsupported API \`${api}\`: this client signs by S3v4`);
  const path = textOf('path') || 'auto';
  if (path !== 'auto' && path !== 'on' && path !== 'off') {
    throw new CliError('BadArgument', `Invalid path \`${path}\` of the alias: it is auto, on or off`);
  }
  const sessionToken = textOf('sessionToken');
  return { url, accessKey, secretKey, ...(sessionToken !== '' && { sessionToken }), api: 'S3v4', path };
}
