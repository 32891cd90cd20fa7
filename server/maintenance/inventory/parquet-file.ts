import { ByteWriter, ParquetWriter, type SchemaElement } from 'hyparquet-writer';
import type { ListedVersion } from '../../objects/contract/listings.ts';
import type { InventoryColumn, InventoryValue } from './inventory-columns.ts';
import type { ReportFile } from './report-file.ts';

/** Rows of a row group. To encode one takes the background thread some 100 ms. */
const GROUP_ROWS = 10_000;

/** A Parquet file, compressed by Snappy. */
export class ParquetFile implements ReportFile {
  readonly #columns: readonly InventoryColumn[];
  readonly #bytes = new ByteWriter();
  readonly #writer: ParquetWriter;
  #rows: ListedVersion[] = [];

  constructor(columns: readonly InventoryColumn[]) {
    this.#columns = columns;
    this.#writer = new ParquetWriter({ writer: this.#bytes, schema: schemaOf(columns), createdBy: 'coffer' });
  }

  get bytes(): number {
    return this.#bytes.offset;
  }

  async add(versions: readonly ListedVersion[]): Promise<void> {
    for (const version of versions) this.#rows.push(version);
    if (this.#rows.length >= GROUP_ROWS) await this.#writeGroup();
  }

  async finish(): Promise<Buffer> {
    if (this.#rows.length > 0) await this.#writeGroup();
    await this.#writer.finish();
    return Buffer.from(this.#bytes.getBytes());
  }

  async #writeGroup(): Promise<void> {
    const rows = this.#rows;
    this.#rows = [];
    const columnData = this.#columns.map(({ parquetName, read }) => ({
      name: parquetName,
      data: rows.map((row) => parquetValue(read(row))),
    }));
    await this.#writer.write({ columnData, rowGroupSize: rows.length });
  }
}

function parquetValue(value: InventoryValue): unknown {
  return typeof value === 'number' ? BigInt(value) : value;
}

const types = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  integer: { type: 'INT64' },
  boolean: { type: 'BOOLEAN' },
  time: { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
} as const satisfies Record<InventoryColumn['type'], Partial<SchemaElement>>;

function schemaOf(columns: readonly InventoryColumn[]): SchemaElement[] {
  return [
    { name: 's3.inventory', num_children: columns.length },
    ...columns.map(({ parquetName, type, required }): SchemaElement => ({
      name: parquetName,
      repetition_type: required ? 'REQUIRED' : 'OPTIONAL',
      ...types[type],
    })),
  ];
}
