/** The configuration is wrong. The message names the place, the value (never a secret one) and what is expected. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly code = 'invalid-configuration';
}
