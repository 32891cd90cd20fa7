import { ConfigError } from './config-error.ts';

/**
 * Replaces `${NAME}` in every scalar of a configuration by the environment variable of that name. `$${NAME}` stands for the text
 * `${NAME}` itself.
 *
 * Errors with a `ConfigError` where a variable is not set; an empty one counts as set.
 */
export function expandEnvironment(
  value: unknown,
  environment: Readonly<Record<string, string | undefined>>,
  path = '',
): unknown {
  if (typeof value === 'string') {
    return value.replaceAll(/\$?\$\{([A-Za-z_]\w*)\}/g, (written: string, name: string) => {
      if (written.startsWith('$$')) return written.slice(1);
      const found = environment[name];
      if (found === undefined) {
        throw new ConfigError(
          `${path || 'the configuration'} reads the environment variable ${name}, which is not set`,
        );
      }
      return found;
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
