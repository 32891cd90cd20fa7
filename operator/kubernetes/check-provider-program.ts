/**
 * `coffer-operator check-provider --request FILE`: reads a provider and its client secret from FILE (JSON), asks the provider, and
 * writes the result as JSON to the termination message, /dev/termination-log. Errors when the request cannot be read.
 */
export function checkProviderProgram(_requestFile: string, _terminationLog = '/dev/termination-log'): Promise<void> {
  throw new Error('not built yet');
}
