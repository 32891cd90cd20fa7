import { keyCanaries } from '../../protocol/key-service/canary.ts';
import { fileErrorReason } from '../../platform/errors/system-error.ts';
import { ProgramError } from '../../platform/errors/program-error.ts';
import { parseYaml } from '../../platform/text/yaml.ts';
import { describeIssues } from './config-error.ts';
import { readSettingFile } from '../../platform/settings/read-setting-file.ts';
import { secretText } from '../../platform/settings/setting-text.ts';
import { z } from 'zod';
import { toConfig, type Config, type ConfigOverrides } from './config.ts';
import type { KeyStoreSettings } from '../keystores/keystore-settings.ts';
import { configFile } from './schema.ts';
import { toKeyStoreSettings } from './to-keystore-settings.ts';
import { warningsOfLogins } from './unused-logins.ts';

/**
 * Replaces `${NAME}` or `${ NAME }` in every scalar of a configuration by the environment variable. `$${NAME}` becomes the text `${NAME}`.
 *
 * @throws ProgramError when a variable is not set or cannot be meant; an empty one counts as set
 */
export function expandEnvironment(
  value: unknown,
  environment: Readonly<Record<string, string | undefined>>,
  path = '',
): unknown {
  if (typeof value === 'string') {
    return value.replaceAll(/\$?\$\{\s*([A-Za-z_]\w*)\s*\}/g, (written: string, name: string) => {
      if (written.startsWith('$$')) return written.slice(1);
      const found = environment[name];
      if (found === undefined) {
        throw new ProgramError(
          'configuration',
          `${path || 'the configuration'} reads the environment variable ${name}, which is not set`,
        );
      }
      return readVariable(name, found);
    });
  }
  if (Array.isArray(value))
    return value.map((item, index) => expandEnvironment(item, environment, `${path}[${index}]`));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      expandEnvironment(item, environment, path === '' ? name : `${path}.${name}`),
    ]),
  );
}

/** Reads a variable as a line of the file is read: without what ends the line. */
function readVariable(name: string, value: string): string {
  try {
    return secretText(value);
  } catch (error) {
    throw new ProgramError('configuration', `the environment variable ${name} ${(error as Error).message}`);
  }
}

/**
 * Names the JSON file of the canaries of keys that have sealed data, which the operator writes. It is not part of the configuration, which
 * a key service of an earlier release refuses with a setting that it does not know.
 */
export const canariesVariable = 'KEYSVC_CANARIES';

const canariesFile = z.array(keyCanaries).max(100_000);

function parseCanaries(text: string): Config['canaries'] {
  const read = canariesFile.safeParse(parseJson(text));
  if (!read.success)
    throw new ProgramError('configuration', `the canaries cannot be read: ${z.prettifyError(read.error)}`);
  return read.data;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ProgramError('configuration', 'the canaries are not JSON', { cause: error });
  }
}

const maxConfigBytes = 1024 * 1024;

/**
 * Reads the configuration file.
 *
 * @throws ProgramError with the path of the file
 */
export async function loadConfig(
  path: string,
  environment: Readonly<Record<string, string | undefined>>,
  overrides: ConfigOverrides = {},
): Promise<Config> {
  const config = await readWith(path, (text) => parseConfig(text, environment, overrides));
  const canaries = environment[canariesVariable] ?? '';
  return canaries === '' ? config : { ...config, canaries: await readWith(canaries, parseCanaries) };
}

/**
 * Reads only the settings of the key store from a configuration file.
 *
 * @throws ProgramError with the path of the file
 */
export async function loadKeyStoreSettings(
  path: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<KeyStoreSettings> {
  return readWith(path, (text) => {
    const { keystore } = keyStoreSection.parse(readYaml(text) ?? {});
    return toKeyStoreSettings(
      keyStoreSection.shape.keystore.parse(expandEnvironment(keystore, environment, 'keystore')),
    );
  });
}

/** Only the server reads the other settings. */
const keyStoreSection = z.object({ keystore: z.record(z.string(), z.unknown()).default({}) });

async function readWith<T>(path: string, parse: (text: string) => T): Promise<T> {
  let text: string;
  try {
    text = readSettingFile(path);
  } catch (error) {
    throw new ProgramError('configuration', `cannot read the configuration ${path}: ${fileErrorReason(error)}`, {
      cause: error,
    });
  }
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof z.ZodError)
      throw new ProgramError('configuration', `${path}: ${describeIssues(error, {})}`, { cause: error });
    if (!(error instanceof ProgramError)) throw error;
    throw new ProgramError('configuration', `${path}: ${error.message}`, { cause: error });
  }
}

/**
 * Parses the text of a configuration file.
 *
 * @throws ProgramError
 */
export function parseConfig(
  text: string,
  environment: Readonly<Record<string, string | undefined>>,
  overrides: ConfigOverrides = {},
): Config {
  const written = readYaml(text) ?? {};
  const expanded = expandEnvironment(written, environment);
  const parsed = configFile.safeParse(expanded);
  if (!parsed.success) throw new ProgramError('configuration', describeIssues(parsed.error, expanded));
  const config = toConfig(parsed.data, overrides);
  return { ...config, warnings: [...config.warnings, ...warningsOfLogins(written, expanded)] };
}

function readYaml(text: string): unknown {
  if (text.length > maxConfigBytes)
    throw new ProgramError('configuration', `it is larger than ${maxConfigBytes} bytes`);
  try {
    return parseYaml(text, { maxAliases: 100, scalars: 'texts', merge: true });
  } catch (error) {
    // The error of the parser, which holds the text, is no cause: logs print causes.
    throw new ProgramError('configuration', `it is no valid YAML: ${(error as Error).message}`);
  }
}
