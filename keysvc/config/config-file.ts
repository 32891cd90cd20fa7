import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { ConfigError } from './config-error.ts';
import { toConfig } from './config.ts';
import type { Config, ConfigOverrides } from './config.ts';
import { describeIssues } from './describe-issues.ts';
import { expandEnvironment } from './expand-environment.ts';
import { configFile } from './schema.ts';

const maxConfigBytes = 1024 * 1024;

/** Reads the configuration file. Errors with a `ConfigError` that names the file. */
export async function loadConfig(
  path: string,
  environment: Readonly<Record<string, string | undefined>>,
  overrides: ConfigOverrides = {},
): Promise<Config> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new ConfigError(`cannot read the configuration ${path}: ${(error as Error).message}`, { cause: error });
  }
  try {
    return parseConfig(text, environment, overrides);
  } catch (error) {
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
  if (text.length > maxConfigBytes) throw new ConfigError(`it is larger than ${maxConfigBytes} bytes`);
  let yaml: unknown;
  try {
    yaml = parse(text);
  } catch (error) {
    throw new ConfigError(`it is no valid YAML: ${(error as Error).message}`, { cause: error });
  }
  const expanded = expandEnvironment(yaml ?? {}, environment);
  const parsed = configFile.safeParse(expanded);
  if (!parsed.success) throw new ConfigError(describeIssues(parsed.error, expanded));
  return toConfig(parsed.data, overrides);
}
