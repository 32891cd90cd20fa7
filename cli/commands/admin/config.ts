import { formatKeyValues, parseConfigLines } from '../../../protocol/settings/key-values.ts';
import { settings } from '../../../protocol/settings/table.ts';
import type { Setting } from '../../../protocol/settings/setting.ts';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import { writeOutputFile } from '../../config/output-file.ts';
import type { Context } from '../context.ts';
import { secrets, warnOfArguments } from '../../terminal/prompt.ts';
import type { IncomingHttpHeaders } from 'node:http';
import { adminOf } from '../admin-client.ts';
import { printable } from '../../../platform/text/printable.ts';
import { readDocument } from '../../terminal/io.ts';

const rows: readonly Setting[] = settings;
const secretKeys = new Set(rows.filter((row) => row.secret).flatMap(({ configKeys = [] }) => configKeys));

/** Formats settings for the admin API. The client asks for a value that is `-`, and warns about secrets on the command line. */
export async function keyValueText(context: Context, words: readonly string[]): Promise<string> {
  const given = words.map(keyValue);
  const visible = given.filter(([key, value]) => secretKeys.has(key) && value !== '-' && value !== '');
  if (visible.length > 0) warnOfArguments(context, visible.map(([key]) => key).join(' and the '));
  const asked = given.filter(([, value]) => value === '-').map(([key]) => ({ what: key, given: undefined }));
  const answers = asked.length === 0 ? [] : await secrets(context, asked);
  return formatKeyValues(given.map(([key, value]) => [key, value === '-' ? (answers.shift() ?? '') : value]));
}

function keyValue(word: string): readonly [key: string, value: string] {
  const [, key, value] = /^([A-Za-z][A-Za-z0-9_]*)=(.*)$/s.exec(word) ?? [];
  if (key !== undefined && value !== undefined) return [key, value];
  throw new ProgramError('BadArgument', `Settings are given as key=value; \`${word.split('=')[0]}\` is none`);
}

/** Reports that settings are saved, and whether the server must restart: a header says that it need not. */
export function printSaved(
  context: Context,
  alias: string,
  headers: IncomingHttpHeaders,
  fields: Readonly<Record<string, unknown>>,
): void {
  const restart = headers['x-minio-config-applied'] !== 'true';
  context.output.message(
    restart
      ? `Successfully applied new settings.\nPlease restart your server: coffer admin service restart ${alias}`
      : 'Successfully applied new settings. They are in effect.',
    { ...fields, restart },
  );
}

interface Help {
  readonly description?: string;
  readonly keysHelp?: readonly {
    readonly key: string;
    readonly description?: string;
    readonly optional?: boolean;
    readonly type?: string;
  }[];
}

/** Shows the settings of a subsystem. Without a subsystem it lists the subsystems. */
export async function getConfig(context: Context, [alias = '', key]: readonly string[]): Promise<void> {
  if (key === undefined) return helpConfig(context, [alias]);
  const admin = await adminOf(context, alias);
  const value = (await admin.decryptedText({ method: 'GET', call: 'get-config-kv', query: { key } })).trimEnd();
  context.output.message(multiline(value), { config: configOf(value) });
}

/** The fields of stock clients. */
function configOf(text: string) {
  return parseConfigLines(text).map(({ subsystem, target, values }) => ({
    subSystem: subsystem,
    ...(target === '_' ? {} : { target }),
    kv: [...values].map(([key, value]) => ({ key, value })),
  }));
}

/** Shows the subsystems, or the keys of one. */
async function helpConfig(
  context: Context,
  [alias = '', subSys = '', key = '']: readonly string[],
  options: { readonly env?: boolean } = {},
): Promise<void> {
  const admin = await adminOf(context, alias);
  const help = await admin.json<Help>({
    method: 'GET',
    call: 'help-config-kv',
    query: { subSys, key, ...(options.env === true ? { env: '' } : {}) },
  });
  const rows = (help.keysHelp ?? []).map(({ key: name, type = '', description = '', optional }) => [
    optional === false ? `${name} (needed)` : name,
    type || '-',
    description,
  ]);
  const title = subSys === '' ? 'SUBSYSTEM' : 'KEY';
  const about = subSys === '' ? '' : `${subSys}: ${help.description ?? ''}\n\n`;
  context.output.data(`${about}${context.output.table([title, 'TYPE', 'WHAT IT IS'], rows)}`, { help });
}

/** Sets `SUBSYSTEM[:NAME] key=value …`. Without values it shows the help of the subsystem. */
export async function setConfig(
  context: Context,
  [alias = '', subsystem = '', ...values]: readonly string[],
  options: { readonly env?: boolean },
): Promise<void> {
  if (values.length === 0) return helpConfig(context, [alias, subsystem], options);
  const admin = await adminOf(context, alias);
  const body = `${subsystem} ${await keyValueText(context, values)}`;
  const headers = await admin.send({ method: 'PUT', call: 'set-config-kv', body, encrypted: true });
  printSaved(context, alias, headers, { targetAlias: alias });
}

/** Resets a subsystem, or some of its keys, to the defaults. */
export async function resetConfig(
  context: Context,
  [alias = '', subsystem = '', ...keys]: readonly string[],
  options: { readonly env?: boolean },
): Promise<void> {
  if (options.env === true) return helpConfig(context, [alias, subsystem], options);
  const admin = await adminOf(context, alias);
  const body = [subsystem, ...keys].join(' ');
  const headers = await admin.send({ method: 'DELETE', call: 'del-config-kv', body, encrypted: true });
  printSaved(context, alias, headers, { targetAlias: alias, key: subsystem });
}

interface HistoryEntry {
  readonly restoreId?: string;
  readonly createTime?: string;
  readonly data?: string;
}

interface HistoryOptions {
  readonly count?: string;
  /** Deletes the history. */
  readonly clear?: boolean;
}

export async function configHistory(
  context: Context,
  [alias = '']: readonly string[],
  { count = '10', clear }: HistoryOptions,
): Promise<void> {
  const admin = await adminOf(context, alias);
  if (clear === true) {
    await admin.send({ method: 'DELETE', call: 'clear-config-history-kv', query: { restoreId: 'all' } });
    context.output.message('Cleared the history of settings.', {});
    return;
  }
  if (!/^[1-9]\d{0,2}$/.test(count)) {
    throw new ProgramError('BadArgument', `Invalid --count \`${count}\`: it is a number from 1 to 999`);
  }
  const entries =
    (await admin.decryptedJson<readonly HistoryEntry[] | null>({
      method: 'GET',
      call: 'list-config-history-kv',
      query: { count },
    })) ?? [];
  const blocks = entries.map(
    ({ restoreId = '', createTime = '', data = '' }) =>
      `RestoreId: ${printable(restoreId)}\nDate: ${createTime}\n\n${multiline(data.trimEnd())}\n`,
  );
  context.output.message(blocks.join('\n') || 'Nothing was changed yet.', {
    entries: entries.map(({ restoreId, createTime, data }) => ({ restoreId, createTime, targets: data })),
  });
}

export async function restoreConfig(context: Context, [alias = '', restoreId = '']: readonly string[]): Promise<void> {
  const admin = await adminOf(context, alias);
  const headers = await admin.send({ method: 'PUT', call: 'restore-config-history-kv', query: { restoreId } });
  printSaved(context, alias, headers, { restoreId });
}

/** Writes all settings as lines to standard output, or to a file that only its owner can read. */
export async function exportConfig(
  context: Context,
  [alias = '']: readonly string[],
  options: { readonly output?: string },
): Promise<void> {
  const admin = await adminOf(context, alias);
  const value = await admin.decryptedText({ method: 'GET', call: 'config' });
  if (options.output === undefined) {
    context.output.message(multiline(value.trimEnd()), { value });
    return;
  }
  await writeOutputFile(options.output, value, 0o600);
  context.output.message(`Wrote the settings to \`${options.output}\`.`, { file: options.output });
}

/** Reads the file that `export` writes; `-` is standard input. */
export async function importConfig(context: Context, [alias = '', file = '-']: readonly string[]): Promise<void> {
  const admin = await adminOf(context, alias);
  const body = await readDocument(context.io, file);
  const headers = await admin.send({ method: 'PUT', call: 'config', body, encrypted: true });
  printSaved(context, alias, headers, { targetAlias: alias });
}

/** Escapes control characters in the text of a server, line by line. */
function multiline(text: string): string {
  return text.split('\n').map(printable).join('\n');
}
