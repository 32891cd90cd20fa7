// Makes THIRD-PARTY-LICENSES.md of the list that Vite writes of the bundled packages. Most of them share a few texts: each text is there once,
// below the packages that it is for, which is a third of the bytes.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The file that Vite writes, for `build.license`. */
export const licenceList = 'licences.json';

/** @param {string} folder The folder of the bundle. */
export function writeLicences(folder) {
  const list = join(folder, licenceList);
  /** @type {{ name: string, version: string, identifier?: string | null, text?: string | null }[]} */
  const packages = JSON.parse(readFileSync(list, 'utf8'));
  /** By the text without its line breaks, which differ. @type {Map<string, { text: string, names: string[] }>} */
  const texts = new Map();
  for (const { name, version, identifier, text } of packages) {
    const body = text?.trim() || `The package has no text of its licence, ${identifier ?? 'which it does not name'}.`;
    const key = body.replaceAll(/\s+/g, ' ');
    const entry = texts.get(key) ?? { text: body, names: [] };
    entry.names.push(`- ${name} ${version} (${identifier ?? 'no identifier'})`);
    texts.set(key, entry);
  }
  const parts = [...texts.values()].map(({ text, names }) => `${names.join('\n')}\n\n${text}\n`);
  writeFileSync(
    join(folder, 'THIRD-PARTY-LICENSES.md'),
    `# Licences of the bundled packages\n\n${parts.join('\n---\n\n')}`,
  );
  rmSync(list);
}
