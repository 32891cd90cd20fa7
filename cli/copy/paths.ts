import { join } from 'node:path';
import { CliError } from '../cli-error.ts';

/**
 * The part of a source's name that its copy has under the target folder. As with rsync, a folder written with a slash at its end
 * gives its contents; without one it keeps its own name.
 */
export function nameUnder(folder: string, rest: string): string {
  if (folder === '' || folder.endsWith('/')) return rest;
  return `${folder.slice(folder.lastIndexOf('/') + 1)}/${rest}`;
}

/** The last part of a key or path. */
export function lastName(path: string): string {
  return path.slice(path.replace(/\/+$/, '').lastIndexOf('/') + 1);
}

/** The key under a prefix that stands for a folder. */
export function keyUnder(prefix: string, name: string): string {
  return prefix === '' || prefix.endsWith('/') ? `${prefix}${name}` : `${prefix}/${name}`;
}

/**
 * The path for a key under a local folder. Keys are free text: one that would leave the folder, or that has no form as a path,
 * is refused.
 *
 * @throws CliError Unsafe
 */
export function pathUnder(folder: string, name: string, platform: NodeJS.Platform = process.platform): string {
  const segments = name.replace(/\/$/, '').split('/');
  const forbidden = platform === 'win32' ? /[\\:\0]/ : /\0/;
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..') || forbidden.test(name)) {
    throw new CliError(
      'Unsafe',
      `The key \`${name}\` cannot become a path under \`${folder}\`: copy it alone, to a name you choose`,
    );
  }
  return join(folder, ...segments);
}
