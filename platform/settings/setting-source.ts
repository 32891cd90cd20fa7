import { fileErrorReason } from '../errors/system-error.ts';
import { ProgramError } from '../errors/program-error.ts';
import { redactSetting, redactText } from '../output/redact-secrets.ts';
import { isDamaged, nulByte, withoutLineEnd } from './setting-text.ts';
import { parseValue, type SettingValue } from './parse-value.ts';
import type { Setting } from '../../protocol/settings/setting.ts';
import { setting } from '../../protocol/settings/table.ts';

const assignment = /^(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s;

/**
 * Reads `NAME=value` lines as systemd and a shell do: `export` in front, `#` comments, single quotes (literal), double quotes (with `\"`,
 * `\\`, `\$`, `` \` `` escaped), and bare values, which end at ` #`. It expands nothing. A later line wins.
 *
 * @throws ProgramError naming the line number
 */
export function parseEnvFile(text: string, path: string): Map<string, string> {
  const values = new Map<string, string>();
  for (const [index, raw] of text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .entries()) {
    if (raw.includes('\0')) throw new ProgramError('settings', `${path}, line ${index + 1}: ${nulByte}`);
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) continue;
    const [, name, rest] = assignment.exec(line) ?? [];
    if (name === undefined || rest === undefined) {
      throw new ProgramError('settings', `${path}, line ${index + 1}: expected NAME=value`);
    }
    values.set(name, parseEnvValue(rest, `${path}, line ${index + 1}, ${name}`));
  }
  return values;
}

function parseEnvValue(text: string, where: string): string {
  const quote = text[0];
  if (quote !== '"' && quote !== "'") return text.replace(/\s+#.*$/s, '').trimEnd();
  const quoted = quote === "'" ? /^'([^']*)'\s*(?:#.*)?$/s : /^"((?:[^"\\]|\\.)*)"\s*(?:#.*)?$/s;
  const body = quoted.exec(text)?.[1];
  if (body === undefined)
    throw new ProgramError('settings', `${where}: the ${quote} that opens the value is not closed at its end`);
  return quote === "'" ? body : body.replace(/\\(["\\$`])/g, '$1');
}

/** A setting of the environment, unchanged. */
export interface GivenSetting {
  readonly variable: string;
  /** Undefined for a secret. */
  readonly value: string | undefined;
}

/** The source of values. `readFile` returns the text of a `…_FILE`. */
interface SettingSource {
  /** The variables of the process environment and of the environment file. The process environment wins. */
  readonly variables: ReadonlyMap<string, string>;
  readonly readFile: (path: string) => string;
}

/**
 * Reads settings by their own name or an alias, from the variable or the file that `<NAME>_FILE` names. An empty variable counts as not
 * set, as Kubernetes templates and MinIO's deployments expect.
 *
 * The reader collects problems instead of throwing, so that an administrator can correct all of them at once.
 */
export class SettingReader {
  readonly problems: string[] = [];
  readonly #source: SettingSource;

  constructor(source: SettingSource) {
    this.#source = source;
  }

  /** `suffix` is `_<ID>` for a provider's settings, else empty. */
  read(setting: Setting, suffix = ''): SettingValue | undefined {
    const found = this.#find(setting, suffix);
    const text = found?.text ?? setting.default;
    if (text === undefined) return undefined;
    try {
      return parseValue(text, setting.type);
    } catch (error) {
      if (!(error instanceof ProgramError)) throw error;
      // An address may have a password.
      const given = setting.secret ? '' : ` is "${redactSetting(text)}"`;
      this.#report(`${found?.name ?? setting.name}${given}: ${redactText(error.message)}`);
      return undefined;
    }
  }

  /** Reports whether the environment gives the setting. */
  has(setting: Setting, suffix = ''): boolean {
    return this.#find(setting, suffix) !== undefined;
  }

  /** Collects `problem` if the environment does not name the setting. A value or a file that cannot be read has its own problem already. */
  require(setting: Setting, suffix: string, problem: string): void {
    const bases = [setting.name, ...setting.aliases];
    const isNamed = bases.some(
      (base) =>
        this.#variable(base + suffix) !== undefined ||
        (setting.secret && this.#fileVariable(base, suffix) !== undefined),
    );
    if (!isNamed) this.#report(problem);
  }

  /** Returns the setting as the environment gives it, without the values of secrets. */
  given(setting: Setting, suffix = ''): GivenSetting | undefined {
    const found = this.#find(setting, suffix);
    return found && { variable: found.name, value: setting.secret ? undefined : found.text };
  }

  /** Returns the path of the file that holds a secret, which may be renewed while the program runs; undefined where a variable holds it. */
  fileOf(setting: Setting, suffix = ''): string | undefined {
    for (const base of [setting.name, ...setting.aliases]) {
      if (this.#variable(base + suffix) !== undefined) return undefined;
      const file = this.#fileVariable(base, suffix);
      if (file !== undefined) return file.path;
    }
    return undefined;
  }

  /** A setting is read several times, and its problem is reported once. */
  #report(problem: string): void {
    if (!this.problems.includes(problem)) this.problems.push(problem);
  }

  #find(setting: Setting, suffix: string): { name: string; text: string } | undefined {
    for (const base of [setting.name, ...setting.aliases]) {
      const name = base + suffix;
      const text = this.#variable(name);
      if (text !== undefined) return this.#checked(setting, name, text);
      const file = setting.secret ? this.#fileVariable(base, suffix) : undefined;
      if (file !== undefined) {
        const secret = this.#fromFile(file.name, file.path);
        return secret === undefined ? undefined : this.#checked(setting, secret.name, secret.text);
      }
    }
    return undefined;
  }

  /** Returns a variable as a line of a file is read: without what ends the line, and undefined if nothing is left. */
  #variable(name: string): string | undefined {
    const text = withoutLineEnd(this.#source.variables.get(name) ?? '');
    return text.trim() === '' ? undefined : text;
  }

  /** Cuts blanks off, as in a file of settings. Those of a secret may belong to it, and nobody sees them, so they are refused. */
  #checked(setting: Setting, name: string, text: string): { name: string; text: string } | undefined {
    if (isDamaged(text)) {
      this.#report(`${name} has bytes that are not UTF-8`);
      return undefined;
    }
    const trimmed = text.trim();
    if (!setting.secret || trimmed === text) return { name, text: trimmed };
    this.#report(`${name} begins or ends with a blank: remove it, or choose another secret`);
    return undefined;
  }

  /** Finds `NAME_FILE_<ID>` and `NAME_<ID>_FILE`: deployments use both. */
  #fileVariable(base: string, suffix: string): { name: string; path: string } | undefined {
    for (const name of new Set([`${base}${suffix}_FILE`, `${base}_FILE${suffix}`])) {
      const path = this.#variable(name)?.trim();
      if (path !== undefined) return { name, path };
    }
    return undefined;
  }

  #fromFile(name: string, path: string): { name: string; text: string } | undefined {
    try {
      const text = this.#source.readFile(path);
      if (text.includes('\0')) throw new Error(nulByte);
      // Editors of Windows begin a file with the mark.
      return { name, text: withoutLineEnd(text.replace(/^\uFEFF/, '')) };
    } catch (error) {
      this.#report(`${name} names ${path}, which cannot be read: ${fileErrorReason(error)}`);
      return undefined;
    }
  }
}

/** Reads settings that share a prefix and, for a provider, a suffix, by type. */
export function group(reader: SettingReader, prefix: string, suffix = '') {
  const read = (part: string) => reader.read(setting(prefix + part), suffix);
  const file = (part: string) => reader.fileOf(setting(prefix + part), suffix);
  const text = (part: string): string | undefined => {
    const value = read(part);
    return typeof value === 'string' ? value : undefined;
  };
  return {
    read,
    text,
    file,
    require: (part: string, problem: string) => reader.require(setting(prefix + part), suffix, problem),
    onOff: (part: string): boolean => read(part) === true,
    number: (part: string): number | undefined => {
      const value = read(part);
      return typeof value === 'number' ? value : undefined;
    },
    list: (part: string): readonly string[] => {
      const value = read(part);
      return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
    },
    /** Returns an object with the field, or an empty one, for spreading. */
    optional: <Field extends string>(field: Field, part: string): Partial<Record<Field, string>> => {
      const value = text(part);
      return value === undefined ? {} : ({ [field]: value } as Record<Field, string>);
    },
  };
}
