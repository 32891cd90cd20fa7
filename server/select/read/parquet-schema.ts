import { parquetSchema } from 'hyparquet';
import type { FileMetaData, SchemaElement, SchemaTree } from 'hyparquet';
import { S3Error } from '../../../protocol/s3/s3-error.ts';

/** Levels of structs and lists. The work for a column grows with the square of them. Writers use a few levels. */
const maxDepth = 100;

/** A column of the root. */
interface ParquetColumn {
  readonly name: string;
  /** The name that the library knows. */
  readonly key: string;
  /** The position among the elements below the root. */
  readonly position: number;
  readonly schema: SchemaTree;
}

/** A file as the library is to read it. */
export interface PhysicalFile {
  readonly metadata: FileMetaData;
  readonly columns: readonly ParquetColumn[];
}

/**
 * Gives every element of the schema a name of its own (its position), and takes away the types that the library would convert. It makes bare
 * objects by the names of the file, which sort names that are numbers and lose `__proto__`, and it rounds decimals, takes bytes for text and
 * dates for any year.
 *
 * @throws S3Error ParquetParsingError, OverMaxColumn
 */
export function physicalFile(metadata: FileMetaData): PhysicalFile {
  const tree = parquetSchema(metadata);
  requireDepth(tree.children, maxDepth);
  if (tree.children.length === 0) throw new S3Error('ParquetParsingError', 'The Parquet file has no columns.');
  const [root, ...elements] = metadata.schema;
  if (root === undefined) throw new S3Error('ParquetParsingError', 'The Parquet file has no schema.');
  const schema = [root, ...elements.map((element, at) => physicalElement(element, keyOf(at)))];
  const original = leafPaths(tree);
  const renamed = leafPaths(parquetSchema({ ...metadata, schema }));
  const groups = metadata.row_groups.map((group) => ({
    ...group,
    columns: group.columns.map((column, at) => {
      const { meta_data: data } = column;
      const path = renamed[at];
      if (data === undefined) return column;
      if (path === undefined || !isSame(data.path_in_schema, original[at] ?? [])) {
        throw new S3Error(
          'ParquetParsingError',
          `The schema of the Parquet file has no column ${JSON.stringify(data.path_in_schema.join('.').slice(0, 64))} at ${at + 1}.`,
        );
      }
      return { ...column, meta_data: { ...data, path_in_schema: [...path] } };
    }),
  }));
  let at = 0;
  const columns = tree.children.map((child): ParquetColumn => {
    const position = at;
    at += child.count;
    return { name: child.element.name, key: keyOf(position), position, schema: child };
  });
  return { metadata: { ...metadata, schema, row_groups: groups }, columns };
}

/** Names an element by its position among those below the root. */
export function keyOf(at: number): string {
  return `c${at}`;
}

function physicalElement(element: SchemaElement, name: string): SchemaElement {
  const { converted_type: _converted, logical_type: _logical, ...physical } = element;
  if (isList(element)) return { ...physical, name, converted_type: 'LIST' };
  return isText(element) ? { ...physical, name, converted_type: 'UTF8' } : { ...physical, name };
}

export function isList({ converted_type: converted, logical_type: logical }: SchemaElement): boolean {
  return converted === 'LIST' || logical?.type === 'LIST';
}

/** Reports whether the bytes of an element are a text. Bytes without a type may be anything. */
export function isText({ type, converted_type: converted, logical_type: logical }: SchemaElement): boolean {
  if (type !== 'BYTE_ARRAY') return false;
  return converted === 'UTF8' || converted === 'ENUM' || logical?.type === 'STRING' || logical?.type === 'ENUM';
}

function leafPaths(node: SchemaTree): readonly (readonly string[])[] {
  return node.children.length === 0 ? [node.path] : node.children.flatMap(leafPaths);
}

function isSame(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((one, at) => one === right[at]);
}

function requireDepth(nodes: readonly SchemaTree[], levels: number): void {
  if (levels === 0) {
    throw new S3Error('OverMaxColumn', `A column of the Parquet file is nested more deeply than ${maxDepth} levels.`);
  }
  for (const { children } of nodes) if (children.length > 0) requireDepth(children, levels - 1);
}
