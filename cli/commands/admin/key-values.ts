import { formatKeyValues } from '../../../protocol/settings/key-values.ts';
import { settings } from '../../../protocol/settings/table.ts';
import type { Setting } from '../../../protocol/settings/setting.ts';
import { CliError } from '../../cli-error.ts';
import type { Context } from '../../context.ts';
import { secrets, warnOfArguments } from '../../terminal/secret-argument.ts';

const rows: readonly Setting[] = settings;
const secretKeys = new Set(rows.filter((row) => row.secret).flatMap(({ configKeys = [] }) => configKeys));

/** Words of a command line as the text that the admin API takes; the value `-` is asked for, and secrets in sight are warned of. */
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
  throw new CliError('BadArgument', `Settings are given as key=value; \`${word.split('=')[0]}\` is none`);
}
