import { chmod, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomically } from '../../platform/atomic-file.ts';
import { CliError } from '../cli-error.ts';
import type { Alias } from './alias.ts';

const version = '10';

/** What a fresh installation knows: the server of this machine, without keys. */
const defaults: Readonly<Record<string, Alias>> = {
  local: { url: 'http://localhost:9000', accessKey: '', secretKey: '', api: 'S3v4', path: 'auto' },
};

/** The aliases of config.json by name; the defaults when there is no such file yet. */
export async function readAliases(folder: string): Promise<Map<string, Alias>> {
  const path = join(folder, 'config.json');
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map(Object.entries(defaults));
    throw new CliError('BadConfig', `Unable to read \`${path}\``, { cause: error });
  }
  return new Map(Object.entries(parse(text, path)).map(([name, alias]) => [name, readAlias(name, alias, path)]));
}

/** Replaces config.json, in a folder that only its owner may enter. */
export async function writeAliases(folder: string, aliases: ReadonlyMap<string, Alias>): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await chmod(folder, 0o700);
    const text = `${JSON.stringify({ version, aliases: Object.fromEntries(aliases) }, undefined, 2)}\n`;
    await writeFileAtomically(join(folder, 'config.json'), text, { mode: 0o600 });
  } catch (error) {
    throw new CliError('BadConfig', `Unable to write \`${join(folder, 'config.json')}\``, { cause: error });
  }
}

function parse(text: string, path: string): Record<string, unknown> {
  let config: unknown;
  try {
    config = JSON.parse(text);
  } catch (error) {
    throw new CliError('BadConfig', `\`${path}\` is not valid JSON`, { cause: error });
  }
  const found = isRecord(config) ? config['version'] : undefined;
  if (found !== version) {
    throw new CliError(
      'BadConfig',
      `\`${path}\` has the version ${JSON.stringify(found)}; this client reads "${version}"`,
    );
  }
  const aliases = isRecord(config) ? config['aliases'] : undefined;
  return isRecord(aliases) ? aliases : {};
}

function readAlias(name: string, alias: unknown, path: string): Alias {
  const fields = isRecord(alias) ? alias : {};
  const text = (field: string): string => {
    const value = fields[field] ?? '';
    if (typeof value === 'string') return value;
    throw new CliError('BadConfig', `\`${path}\`: the field "${field}" of the alias \`${name}\` must be a string`);
  };
  const sessionToken = text('sessionToken');
  const way = text('path');
  return {
    url: text('url'),
    accessKey: text('accessKey'),
    secretKey: text('secretKey'),
    ...(sessionToken === '' ? {} : { sessionToken }),
    api: 'S3v4',
    // `dns` is the older name of `off`.
    path: way === 'on' ? 'on' : way === 'off' || way === 'dns' ? 'off' : 'auto',
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
