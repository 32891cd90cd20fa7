/**
 * Builds the web application into `dist/console`. `npm run prepare` runs it, and `npm start` if the folder is missing. Without Vite, in
 * an installation without development dependencies, it does nothing.
 */
import type * as Vite from 'vite';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const web = fileURLToPath(new URL('web', import.meta.url));
const built = fileURLToPath(new URL('../../dist/console', import.meta.url));

export function consoleIsBuilt(): boolean {
  return existsSync(join(built, 'index.html'));
}

/** Returns false if Vite is not installed. Rejects if the build fails. */
export async function buildConsole(): Promise<boolean> {
  const vite = await importVite();
  if (vite === undefined) return false;
  await vite.build({ root: web, configFile: join(web, 'vite.config.ts'), logLevel: 'error' });
  return true;
}

async function importVite(): Promise<typeof Vite | undefined> {
  try {
    return await import('vite');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

if (import.meta.main) await buildConsole();
