import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { z } from 'zod';
import { ConfigError } from './config-error.ts';
import { toConfig } from './config.ts';
import type { Config, ConfigOverrides } from './config.ts';
import { describeIssues } from './describe-issues.ts';
import { expandEnvironment } from './expand-environment.ts';
import type { KeyStoreSettings } from './keystore-settings.ts';
import { configFile } from './schema.ts';
import { toKeyStoreSettings } from './to-keystore-settings.ts';

const maxConfigBytes = 1024 * 1024;

/** Reads the configuration file. Errors with a `ConfigError` that names the file. */
export async function loadConfig(
  path: string,
  environment: Readonly<Record<string, string | undefined>>,
  overrides: ConfigOverrides = {},
): Promise<Config> {
  return readWith(path, (text) => parseConfig(text, environment, overrides));
}

/** Reads where keys are kept, and nothing else, from a configuration file. Errors with a `ConfigError` that names the file. */
export async function loadKeyStoreSettings(
  path: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<KeyStoreSettings> {
  return readWith(path, (text) => {
    const { keystore } = keyStoreSection.parse(parseYaml(text) ?? {});
    return toKeyStoreSettings(
      keyStoreSection.shape.keystore.parse(expandEnvironment(keystore, environment, 'keystore')),
    );
  });
}

/** Whatever else stands in the file is for the server. */
const keyStoreSection = z.object({ keystore: z.record(z.string(), z.unknown()).default({}) });

async function readWith<T>(path: string, parse: (text: string) => T): Promise<T> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new ConfigError(`cannot read the configuration ${path}: ${(error as Error).message}`, { cause: error });
  }
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof z.ZodError) throw new ConfigError(`${path}: ${describeIssues(error, {})}`, { cause: error });
    if (!(error instanceof ConfigError)) throw error;
    throw new ConfigError(`${path}: ${error.message}`, { cause: error });
  }
}

/** Makes the configuration from the text of its file. Errors with a `ConfigError`. */
export function parseConfig(
  text: string,
  environment: Readonly<Record<string, string | undefined>>,
  overrides: ConfigOverrides = {},
): Config {
  const expanded = expandEnvironment(parseYaml(text) ?? {}, environment);
  const parsed = configFile.safeParse(expanded);
  if (!parsed.success) throw new ConfigError(describeIssues(parsed.error, expanded));
  return toConfig(parsed.data, overrides);
}

function parseYaml(text: string): unknown {
  if (text.length > maxConfigBytes) throw new ConfigError(`it is larger than ${maxConfigBytes} bytes`);
  try {
    return parse(text);
  } catch (error) {
    throw new ConfigError(`it is no valid YAML: ${(error as Error).message}`, { cause: error });
  }
}
