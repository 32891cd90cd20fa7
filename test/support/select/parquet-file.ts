import { gzipSync } from 'node:zlib';
import type { FileMetaData, PageHeader, RowGroup, SchemaElement } from 'hyparquet';
import { ByteWriter } from 'hyparquet-writer/src/bytewriter.js';
import { writePageHeader } from 'hyparquet-writer/src/datapage.js';
import { writeMetadata } from 'hyparquet-writer/src/metadata.js';

interface Page {
  readonly type: 'DATA_PAGE' | 'DICTIONARY_PAGE';
  readonly encoding: 'PLAIN' | 'RLE_DICTIONARY';
  /** Values that the header names. */
  readonly values: number;
  readonly bytes: Buffer;
}

interface HostileFile {
  /** The elements below the root, in the order of a walk. By default one column of integers that are never null. */
  readonly schema?: readonly SchemaElement[];
  readonly rootChildren?: number;
  /** The pages of the first column, which all row groups have. */
  readonly pages: readonly Page[];
  /** Rows that each row group names. */
  readonly rows: number;
  readonly groups: number;
  readonly path?: readonly string[];
}

const oneColumn: readonly SchemaElement[] = [{ name: 'a', type: 'INT32', repetition_type: 'REQUIRED' }];

/** Writes a Parquet file whose headers may say what is not so, and whose row groups share the bytes of one column. Pages are compressed by gzip. */
export function parquetFile(file: HostileFile): Buffer {
  const { schema = oneColumn, rootChildren = 1, path = ['a'] } = file;
  const writer = new ByteWriter();
  writer.appendBytes(Buffer.from('PAR1'));
  let uncompressed = 0;
  for (const page of file.pages) {
    const bytes = gzipSync(page.bytes);
    writePageHeader(writer, headerOf(page, bytes.length));
    writer.appendBytes(bytes);
    uncompressed += page.bytes.length;
  }
  const hasDictionary = file.pages[0]?.type === 'DICTIONARY_PAGE';
  const group: RowGroup = {
    columns: [
      {
        file_offset: 4n,
        meta_data: {
          type: 'INT32',
          encodings: ['PLAIN'],
          path_in_schema: [...path],
          codec: 'GZIP',
          num_values: BigInt(file.rows),
          total_uncompressed_size: BigInt(uncompressed % 1_024),
          total_compressed_size: BigInt(writer.offset - 4),
          data_page_offset: 4n,
          ...(hasDictionary && { dictionary_page_offset: 4n }),
        },
      },
    ],
    total_byte_size: 1n,
    num_rows: BigInt(file.rows),
  };
  const metadata: FileMetaData = {
    version: 2,
    schema: [{ name: 'root', num_children: rootChildren }, ...schema],
    num_rows: BigInt(file.rows * file.groups),
    row_groups: Array.from({ length: file.groups }, () => group),
    metadata_length: 0,
  };
  const start = writer.offset;
  writeMetadata(writer, metadata);
  writer.appendUint32(writer.offset - start);
  writer.appendBytes(Buffer.from('PAR1'));
  return Buffer.from(writer.getBytes());
}

function headerOf({ type, encoding, values, bytes }: Page, compressed: number): PageHeader {
  return {
    type,
    uncompressed_page_size: bytes.length,
    compressed_page_size: compressed,
    ...(type === 'DICTIONARY_PAGE'
      ? { dictionary_page_header: { num_values: values, encoding } }
      : {
          data_page_header: {
            num_values: values,
            encoding,
            definition_level_encoding: 'RLE',
            repetition_level_encoding: 'RLE',
          },
        }),
  };
}
