/**
 * Builds the web application into `dist/console`. `npm run prepare` runs it, and `npm start` if the folder is missing. Without Vite, in
 * an installation without development dependencies, it does nothing.
 */
import type * as Vite from 'vite';
import { existsSync } from 'node:fs';
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';

const web = fileURLToPath(new URL('.', import.meta.url));
const built = fileURLToPath(new URL('../dist/console', import.meta.url));

export function consoleIsBuilt(): boolean {
  return existsSync(join(built, 'index.html'));
}

/**
 * Returns false if Vite is not installed. Rejects if the build fails; the console of before stays then. A server may read the folder
 * meanwhile, so the new files replace the old ones when all are there.
 */
export async function buildConsole(): Promise<boolean> {
  const vite = await importVite();
  if (vite === undefined) return false;
  const outDir = `${built}-${process.pid}`;
  try {
    await vite.build({ root: web, configFile: join(web, 'vite.config.ts'), build: { outDir }, logLevel: 'error' });
    await compressAll(outDir);
    await replaceFolder(outDir, built);
  } finally {
    await rm(outDir, { recursive: true, force: true });
  }
  return true;
}

/** Puts the folder `from` in the place of `to`, which may be absent. Another process may do the same; the last one wins. */
export async function replaceFolder(from: string, to: string): Promise<void> {
  const old = `${from}-old`;
  for (let replaced = false; !replaced;) {
    await rename(to, old).catch(unless('ENOENT'));
    replaced = (await rename(from, to).catch(unless('ENOTEMPTY', 'EEXIST'))) !== false;
    await rm(old, { recursive: true, force: true });
  }
}

/** Returns a handler that answers false for an error with one of the codes, and throws any other. */
function unless(...codes: readonly string[]): (error: NodeJS.ErrnoException) => false {
  return (error) => {
    if (codes.includes(error.code ?? '')) return false;
    throw error;
  };
}

const brotliOf = promisify(brotliCompress);
const gzipOf = promisify(gzip);

/** Writes `FILE.br` and `FILE.gz` next to each text file, so that the server compresses nothing. */
async function compressAll(folder: string): Promise<void> {
  const files = (await readdir(folder, { recursive: true })).filter((name) => /\.(?:js|css|html|svg)$/.test(name));
  for (const name of files) {
    const bytes = await readFile(join(folder, name));
    await writeFile(join(folder, `${name}.br`), await brotliOf(bytes));
    await writeFile(join(folder, `${name}.gz`), await gzipOf(bytes, { level: 9 }));
  }
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
