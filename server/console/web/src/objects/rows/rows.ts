import type { ObjectRow } from '../../../../contract/answers.ts';
import type { VersionRow } from '../../api/versions.ts';
import { nameIn } from '../../components/urls.ts';
import { locale } from '../../texts/language.ts';

/** A row of a folder. */
export type Row =
  | { readonly kind: 'folder'; readonly key: string }
  | { readonly kind: 'object'; readonly key: string; readonly object: ObjectRow }
  /** Shown with the switch for versions: a version or a delete marker. */
  | { readonly kind: 'version'; readonly key: string; readonly version: VersionRow };

/** The rows of a page in the order of their keys, as the server lists them. */
export function mergedRows(folders: readonly string[], others: readonly Row[]): readonly Row[] {
  const rows: Row[] = [];
  let at = 0;
  for (const key of folders) {
    for (let row = others[at]; row !== undefined && row.key < key; row = others[at]) {
      rows.push(row);
      at += 1;
    }
    rows.push({ kind: 'folder', key });
  }
  return [...rows, ...others.slice(at)];
}

export const sortFields = ['name', 'size', 'modified'] as const;
export interface Sort {
  readonly by: (typeof sortFields)[number];
  readonly descending: boolean;
}

const collator = new Intl.Collator(locale, { numeric: true });

/** Filters and sorts the rows of a whole folder. Folders come first. */
export function arrangedRows(rows: readonly Row[], prefix: string, contains: string, sort: Sort): readonly Row[] {
  const wanted = contains.toLowerCase();
  const shown = rows.filter(({ key }) => nameIn(prefix, key).toLowerCase().includes(wanted));
  const sign = sort.descending ? -1 : 1;
  return shown.toSorted((a, b) => {
    if ((a.kind === 'folder') !== (b.kind === 'folder')) return a.kind === 'folder' ? -1 : 1;
    return sign * (compareBy(sort.by, a, b) || collator.compare(a.key, b.key));
  });
}

function compareBy(by: Sort['by'], a: Row, b: Row): number {
  switch (by) {
    case 'name':
      return 0;
    case 'size':
      return sizeOf(a) - sizeOf(b);
    case 'modified':
      return modifiedOf(a).localeCompare(modifiedOf(b));
    default:
      return by satisfies never;
  }
}

/** Bytes; 0 for a folder. */
export function sizeOf(row: Row): number {
  if (row.kind === 'folder') return 0;
  return row.kind === 'object' ? row.object.size : row.version.size;
}

/** ISO 8601; empty for a folder. */
export function modifiedOf(row: Row): string {
  if (row.kind === 'folder') return '';
  return row.kind === 'object' ? row.object.lastModified : row.version.lastModified;
}

/** A key has several versions, so that the key alone does not name a row. */
export function idOf(row: Row): string {
  return row.kind === 'version' ? `${row.version.versionId} ${row.key}` : row.key;
}
