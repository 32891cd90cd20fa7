import type { InventoryConfiguration } from '../../../protocol/s3/bucket-inventory.ts';
import type { ListedVersion } from '../../objects/contract/listings.ts';
import type { InventoryColumn } from './inventory-columns.ts';

/** A file of a report, which grows in memory. */
export interface ReportFile {
  /** The size so far; some rows may not be counted yet. */
  readonly bytes: number;
  add(versions: readonly ListedVersion[]): Promise<void>;
  finish(): Promise<Buffer>;
}

/** Begins a file. A server without inventories loads none of the code of its format. */
export async function beginFile(
  format: InventoryConfiguration['destination']['format'],
  columns: readonly InventoryColumn[],
): Promise<ReportFile> {
  if (format === 'CSV') return new (await import('./csv-file.ts')).CsvFile(columns);
  return new (await import('./parquet-file.ts')).ParquetFile(columns);
}

export const extensions = { CSV: 'csv.gz', Parquet: 'parquet' } as const;

/** Describes the columns in the manifest, as AWS does for the format. */
export function schemaText(
  format: InventoryConfiguration['destination']['format'],
  columns: readonly InventoryColumn[],
): string {
  if (format === 'CSV') return columns.map(({ name }) => name).join(', ');
  const fields = columns.map(
    ({ parquetName, type, required }) =>
      `${required ? 'required' : 'optional'} ${typeNames[type].replace('NAME', parquetName)};`,
  );
  return `message s3.inventory { ${fields.join(' ')} }`;
}

const typeNames = {
  text: 'binary NAME (UTF8)',
  integer: 'int64 NAME',
  boolean: 'boolean NAME',
  time: 'int64 NAME (TIMESTAMP_MILLIS)',
} as const;
