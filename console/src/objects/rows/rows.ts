import type { ObjectRow } from '../../../../protocol/console/answers.ts';
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

const sortFields = ['name', 'size', 'modified'] as const;
export interface Sort {
  readonly by: (typeof sortFields)[number];
  readonly descending: boolean;
}

/** Rows up to which a folder is loaded whole, so that it can be sorted and filtered by any part of a name. */
export const maxArranged = 5_000;

const collator = new Intl.Collator(locale, { numeric: true });

/** Sorts the rows of a whole folder. Folders come first. */
export function sortRows(rows: readonly Row[], { by, descending }: Sort): readonly Row[] {
  const sign = descending ? -1 : 1;
  return rows.toSorted((a, b) => {
    if ((a.kind === 'folder') !== (b.kind === 'folder')) return a.kind === 'folder' ? -1 : 1;
    return sign * (compareBy(by, a, b) || collator.compare(a.key, b.key));
  });
}

/** The rows whose names contain the text, in any case of its letters. */
export function filterRows(rows: readonly Row[], prefix: string, contains: string): readonly Row[] {
  if (contains === '') return rows;
  const wanted = contains.toLowerCase();
  return rows.filter(({ key }) => nameIn(prefix, key).toLowerCase().includes(wanted));
}

function compareBy(by: Sort['by'], a: Row, b: Row): number {
  switch (by) {
    case 'name':
      return 0;
    case 'size':
      return sizeOf(a) - sizeOf(b);
    case 'modified':
      return compareTimes(modifiedOf(a), modifiedOf(b));
    default:
      return by satisfies never;
  }
}

/** Times in ISO 8601 have the order of their characters. `localeCompare` would take a hundred times as long. */
function compareTimes(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
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
