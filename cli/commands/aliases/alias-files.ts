import {
  type Alias,
  checkAliasName,
  checkKeys,
  checkUrl,
  findAlias,
  type ForeignFields,
  foreignFields,
  readAliases,
  storedAlias,
} from '../../config/aliases.ts';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import { readDocument } from '../../terminal/io.ts';
import type { Context } from '../context.ts';
import { saveAlias } from './alias.ts';

/** Adds or replaces an alias by a JSON document, as `alias export` writes it: from a file, or from standard input. */
export async function importAlias(context: Context, [given = '', file]: readonly string[]): Promise<void> {
  const name = given.replace(/\/+$/, '');
  checkAliasName(name);
  const fromInput = file === undefined || file === '-';
  const text = await readDocument(context.io, file ?? '-');
  const { alias, foreign } = parseAlias(text, fromInput ? 'standard input' : `\`${file}\``);
  await saveAlias(context, name, alias, 'Imported', foreign);
}

/** Prints an alias of config.json with its secret key as one line of JSON. */
export async function exportAlias({ folder, io }: Context, [given = '']: readonly string[]): Promise<void> {
  const name = given.replace(/\/+$/, '');
  const { url, accessKey, secretKey, sessionToken, api, path } = findAlias(await readAliases(folder), name);
  const foreign = foreignFields(await storedAlias(folder, name));
  io.stdout.write(`${JSON.stringify({ url, accessKey, secretKey, sessionToken, api, path, ...foreign })}\n`);
}

function parseAlias(text: string, source: string): { readonly alias: Alias; readonly foreign: ForeignFields } {
  const bad = (reason: string, cause?: unknown) =>
    new ProgramError('BadArgument', `Unable to read an alias from ${source}: ${reason}`, { cause });
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    // The message of the parser would repeat a part of the text, which holds a secret.
    throw bad('it is not valid JSON');
  }
  if (typeof document !== 'object' || document === null || Array.isArray(document)) throw bad('it is no JSON object');
  const fields = document as Record<string, unknown>;
  const textOf = (field: string): string => {
    const value = fields[field] ?? '';
    if (typeof value === 'string') return value;
    throw bad(`the field "${field}" is no string`);
  };
  const api = textOf('api') || 'S3v4';
  if (api.toLowerCase() !== 's3v4') throw bad(`the API \`${api}\` is not supported: this client signs by S3v4`);
  const path = textOf('path') || 'auto';
  if (path !== 'auto' && path !== 'on' && path !== 'off') throw bad('the field "path" is auto, on or off');
  const [accessKey, secretKey] = [textOf('accessKey'), textOf('secretKey')];
  checkKeys(accessKey, secretKey);
  const sessionToken = textOf('sessionToken') || undefined;
  const alias = { url: checkUrl(textOf('url')), accessKey, secretKey, sessionToken, api: 'S3v4', path } as const;
  return { alias, foreign: foreignFields(fields) };
}
