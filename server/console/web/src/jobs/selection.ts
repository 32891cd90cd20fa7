/** Marked rows of a folder. */
export interface Selection {
  readonly objects: readonly { readonly key: string; readonly size: number }[];
  /** Prefixes, which end in `/`, with everything below them. */
  readonly folders: readonly string[];
}

interface Target {
  readonly key: string;
  /** The marked key, or the marked folder that ends in `/`. */
  readonly base: string;
  /** The target folder: empty, or it ends in `/`. */
  readonly prefix: string;
  /** The new name of the base, without `/`. */
  readonly rename?: string | undefined;
}

/** The key of an object after its base is moved into a folder. */
export function targetKey({ key, base, prefix, rename }: Target): string {
  const isFolder = base.endsWith('/');
  const whole = isFolder ? base.slice(0, -1) : base;
  const name = rename ?? whole.slice(whole.lastIndexOf('/') + 1);
  return `${prefix}${name}${isFolder ? `/${key.slice(base.length)}` : ''}`;
}

/** Why a selection cannot go into a folder; undefined if it can. */
export function transferProblem(
  { objects, folders }: Selection,
  source: string,
  target: { readonly bucket: string; readonly prefix: string },
  rename?: string,
): string | undefined {
  if (rename !== undefined && (rename === '' || rename.includes('/'))) {
    return 'A name has at least one character and no slash.';
  }
  if (target.prefix !== '' && !target.prefix.endsWith('/')) return 'A folder ends in a slash.';
  if (target.bucket !== source) return undefined;
  for (const base of folders) {
    const moved = targetKey({ key: base, base, prefix: target.prefix, rename });
    if (moved === base) return 'It is there already.';
    if (moved.startsWith(base)) return `${base} cannot go into itself.`;
  }
  for (const { key } of objects) {
    if (targetKey({ key, base: key, prefix: target.prefix, rename }) === key) return 'It is there already.';
  }
  return undefined;
}
