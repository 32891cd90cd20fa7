import { Anchor, Badge, Group, Table, Text, VisuallyHidden } from '@mantine/core';
import type { TablerIcon } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { formatExactTime, formatMillisecond, formatTime } from '../text/format.ts';
import { t } from '../texts/texts.ts';

export interface Column<Row> {
  /** Undefined for a column of buttons. */
  readonly head: ReactNode;
  readonly cell: (row: Row) => ReactNode;
  readonly width?: number;
  readonly align?: 'right';
  /** Narrow windows leave the column out. */
  readonly wideOnly?: boolean;
}

interface RowTableProps<Row> {
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  readonly columns: readonly Column<Row>[];
  /** Reports if the details of the row are open. */
  readonly isOpen?: (row: Row) => boolean;
  /** On a phone the cells of a row are below each other: for columns of sentences. */
  readonly stacked?: boolean;
}

/** The table of every list. */
export function RowTable<Row>({ rows, rowKey, columns, isOpen, stacked = false }: RowTableProps<Row>) {
  return (
    <div className="rows">
      <Table className={stacked ? 'stacked' : undefined}>
        <Table.Thead>
          <Table.Tr>
            {columns.map(({ head, width, align, wideOnly }, index) => (
              <Table.Th key={index} w={width} ta={align} className={headClass(width, wideOnly)}>
                {head ?? <VisuallyHidden>{t.labels.actions}</VisuallyHidden>}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={rowKey(row)} data-open={isOpen?.(row) === true || undefined}>
              {columns.map(({ cell, align, wideOnly }, index) => (
                <Table.Td key={index} ta={align} className={cellClass(align, wideOnly)}>
                  {cell(row)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}

/** Pixels up to which a column keeps its width in a narrow window. */
const maxNarrow = 100;

function headClass(width = 0, wideOnly = false): string | undefined {
  if (wideOnly) return 'wide-only';
  return width > maxNarrow ? 'wide-column' : undefined;
}

function cellClass(align: 'right' | undefined, wideOnly = false): string | undefined {
  if (wideOnly) return align === undefined ? 'wide-only' : 'wide-only one-line-cell';
  return align === undefined ? undefined : 'one-line-cell';
}

interface RowNameProps {
  readonly name: string;
  readonly icon: TablerIcon;
  /** Undefined where the user may not open the page. */
  readonly to: string | undefined;
  /** Shown after the name. */
  readonly children?: ReactNode;
}

/** The first cell of a row: its name, which links to its page. */
export function RowName({ name, icon: Icon, to, children }: RowNameProps) {
  if (to === undefined) {
    return (
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {name}
      </Text>
    );
  }
  return (
    <Link className="row-name" to={to}>
      <Icon size={18} stroke={1.5} className="row-icon" aria-hidden />
      <span>{name}</span>
      {children}
    </Link>
  );
}

interface NamesProps {
  readonly names: readonly string[];
  /** The page of a name; undefined where the user may not open it. */
  readonly to?: ((name: string) => string) | undefined;
}

/** Characters of a name that stays in one line. */
const shortName = 14;

/** Long names break, so that the other columns of a narrow window stay visible. */
const wrapOf = (name: string) =>
  name.length <= shortName ? ({ whiteSpace: 'nowrap' } as const) : ({ overflowWrap: 'anywhere' } as const);

/** A few names, each with a link. */
export function Names({ names, to }: NamesProps) {
  if (names.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {t.labels.none}
      </Text>
    );
  }
  return (
    <Group gap="2px 12px">
      {names.map((name) =>
        to === undefined ? (
          <Text key={name} size="sm" span style={wrapOf(name)}>
            {name}
          </Text>
        ) : (
          <Anchor key={name} component={Link} to={to(name)} size="sm" style={wrapOf(name)}>
            {name}
          </Anchor>
        ),
      )}
    </Group>
  );
}

/** A time; its tooltip has seconds and the time zone. */
export function TimeText({ at }: { readonly at: string }) {
  return (
    <Text size="sm" c="dimmed" component="time" dateTime={at} title={formatExactTime(at)}>
      {formatTime(at)}
    </Text>
  );
}

/** The time of a line of a log, to the millisecond. */
export function LineTime({ at }: { readonly at: string }) {
  return (
    <Text size="sm" c="dimmed" component="time" dateTime={at} title={formatExactTime(at)}>
      {formatMillisecond(at)}
    </Text>
  );
}

const statusColors = { enabled: 'patina', disabled: 'gray', expired: 'yellow' } as const;

export function StatusBadge({ status }: { readonly status: keyof typeof statusColors }) {
  return <Badge color={statusColors[status]}>{t.components[status]}</Badge>;
}
