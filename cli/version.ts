import { readFileSync } from 'node:fs';

/** Returns the version in `package.json`. In the package of the client it is the folder above, too. */
export function readVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  return version;
}
