import { constants } from 'node:os';
import { getSystemErrorName } from 'node:util';

/**
 * Returns the error that Node makes when a call of the system fails with this error. libuv has no name for some of them (EDQUOT, ESTALE):
 * their `code` is a sentence with the number.
 */
export function systemFailure(name: string, syscall = 'write'): Error {
  const number = (constants.errno as Readonly<Record<string, number>>)[name];
  if (number === undefined) throw new Error(`${name} is not an error of this system`);
  const code = getSystemErrorName(-number);
  return Object.assign(new Error(`${code}: failed, ${syscall}`), { code, errno: -number, syscall });
}
