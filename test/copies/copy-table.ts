import { expect } from 'vitest';
import { attributeNames, type AttributeName } from './whole-object.ts';

/** The columns of the table of the guide: the ways of making a copy. */
export const copyWays = [
  'console: edit metadata',
  'console: restore, rewind',
  'console: copy, move, rename',
  'client: cp, mirror',
  'client: mv, cp -a, mirror -a',
  'rename on the server',
  'tier and its restore',
  'replication',
  'batch job replicate',
  'batch job keyrotate',
] as const;

export type CopyWay = (typeof copyWays)[number];

/** The part of an attribute of its source that a copy has. */
type Cell =
  | 'kept'
  | 'as edited'
  | 'left, and said'
  | 'default key elsewhere'
  | 'default key there'
  | 'key of the job'
  | 'the tier';

/** The cells that are not `kept`. */
const exceptions: Readonly<Partial<Record<CopyWay, Readonly<Partial<Record<AttributeName, Cell>>>>>> = {
  'console: edit metadata': { 'content headers': 'as edited', 'user metadata': 'as edited' },
  'client: cp, mirror': {
    encryption: 'default key elsewhere',
    retention: 'left, and said',
    'legal hold': 'left, and said',
  },
  'client: mv, cp -a, mirror -a': { encryption: 'default key elsewhere' },
  'tier and its restore': { 'storage class': 'the tier' },
  replication: { encryption: 'default key there' },
  'batch job replicate': { encryption: 'default key there' },
  'batch job keyrotate': { encryption: 'key of the job' },
};

function cellOf(way: CopyWay, attribute: AttributeName): Cell {
  return exceptions[way]?.[attribute] ?? 'kept';
}

/** The knowledge that a walk has of its copy. */
interface Walked {
  /** The name of the default key, where the copy is on another server, or of the key that a job names. */
  readonly otherKey?: string;
  readonly tier?: string;
  /** The scheme that the bucket gives to plain objects. */
  readonly bucketDefault?: string;
}

type Attributes = Readonly<Record<AttributeName, unknown>>;

/** Expects of each attribute what the table says. A form that changes nothing edits nothing. */
export function expectCopy(way: CopyWay, source: Attributes, copy: Attributes, walked: Walked = {}): void {
  const expected = Object.fromEntries(
    attributeNames.map((name) => [name, expectedValue(cellOf(way, name), source[name], walked)]),
  );
  // A plain object takes the default of its bucket, unless no body is copied.
  if (source.encryption === undefined && walked.bucketDefault !== undefined && copy.encryption !== undefined) {
    expect(copy.encryption).toMatchObject({ scheme: walked.bucketDefault });
    expect({ ...copy, encryption: undefined }).toEqual({ ...expected, encryption: undefined });
  } else expect(copy).toEqual(expected);
}

function expectedValue(cell: Cell, value: unknown, { otherKey, tier }: Walked): unknown {
  switch (cell) {
    case 'kept':
    case 'as edited':
      return value;
    case 'left, and said':
      return undefined;
    case 'default key elsewhere':
    case 'default key there':
    case 'key of the job':
      return withKey(value, otherKey);
    case 'the tier':
      return tier;
    default:
      return cell satisfies never;
  }
}

function withKey(encryption: unknown, otherKey: string | undefined): unknown {
  const isKeyed = typeof encryption === 'object' && encryption !== null && 'keyName' in encryption;
  return isKeyed && otherKey !== undefined ? { ...encryption, keyName: otherKey } : encryption;
}

/** The table as the guide has it. */
export function renderTable(): readonly (readonly string[])[] {
  return [['', ...copyWays], ...attributeNames.map((name) => [name, ...copyWays.map((way) => cellOf(way, name))])];
}
