// Groups the modules that programs load when they start into few chunks. The bundler would make a chunk for each set of entries and
// dynamic imports that need the same modules. Each thread of a server would load over a hundred files, and takes a sixth longer to start.
import { join } from 'node:path';

/**
 * The options for the bundler. Modules are in one chunk when the same starts load them, and the same programs load them later. So a
 * program never loads a module that it does not need. A chunk imports only chunks that all of its users load too, and no two chunks
 * import each other.
 *
 * @param {string} root of the checkout, with a slash at its end
 * @param {Readonly<Record<string, readonly string[]>>} starts the source files that are loaded at each start
 */
export function fewChunks(root, starts) {
  const roots = Object.values(starts).map((files) => files.map((file) => join(root, file)));
  /** @type {Map<string, string> | undefined} */
  let names;
  return {
    includeDependenciesRecursively: false,
    groups: [
      {
        /** @type {import('rolldown').CodeSplittingNameFunction} */
        name: (id, context) => (names ??= nameChunks(roots, (other) => context.getModuleInfo(other))).get(id) ?? null,
      },
    ],
  };
}

/**
 * @typedef {(id: string) => { importedIds: string[], dynamicallyImportedIds: string[] } | null} GetModule
 * @param {readonly (readonly string[])[]} roots
 * @param {GetModule} getModule
 */
function nameChunks(roots, getModule) {
  const atStart = roots.map((ids) => reach(ids, (id) => getModule(id)?.importedIds ?? []));
  const later = atStart.map((ids) => {
    const parts = [...ids].flatMap((id) => getModule(id)?.dynamicallyImportedIds ?? []);
    return reach(parts, (id) => [
      ...(getModule(id)?.importedIds ?? []),
      ...(getModule(id)?.dynamicallyImportedIds ?? []),
    ]);
  });
  /** @type {Map<string, string>} */
  const chunks = new Map();
  /** @type {Map<string, string>} */
  const names = new Map();
  for (const id of new Set(atStart.flatMap((ids) => [...ids]))) {
    const users = [...atStart, ...later].map((ids) => (ids.has(id) ? '1' : '0')).join('');
    const name = chunks.get(users) ?? `part-${chunks.size + 1}`;
    chunks.set(users, name);
    names.set(id, name);
  }
  return names;
}

/**
 * @param {readonly string[]} ids
 * @param {(id: string) => readonly string[]} next
 */
function reach(ids, next) {
  const found = new Set(ids);
  for (const id of found) for (const other of next(id)) found.add(other);
  return found;
}
