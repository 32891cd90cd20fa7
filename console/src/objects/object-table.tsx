import { Badge, Checkbox, UnstyledButton, VisuallyHidden } from '@mantine/core';
import {
  IconArrowDown,
  IconArrowUp,
  IconEraser,
  IconFile,
  IconFolder,
  IconHistory,
  IconLock,
} from '@tabler/icons-react';
import { memo, useDeferredValue, useEffect, useRef, type ReactNode } from 'react';
import { Link, useSearchParams } from 'react-router';
import { FittedName } from '../components/name-text.tsx';
import { folderUrl, nameIn } from '../components/urls.ts';
import { formatBytes, formatSecond } from '../text/format.ts';
import { RowCheckbox, RowTime } from './rows/row-controls.tsx';
import { idOf, modifiedOf, sizeOf, type Row, type Sort } from './rows/rows.ts';
import { useVisibleRows } from './rows/use-visible-rows.ts';
import { rowHeight } from './rows/visible-rows.ts';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

/** The rows, of which some may not be in memory. */
export interface TableRows {
  readonly count: number;
  readonly at: (index: number) => Row | undefined;
  readonly inMemory: () => readonly Row[];
  /** Called with the first and the last row that are visible. */
  readonly onVisible: (first: number, last: number) => void;
}

interface ObjectTableProps {
  readonly bucket: string;
  readonly prefix: string;
  readonly rows: TableRows;
  readonly selected: string | null;
  /** By `idOf`. */
  readonly marked: ReadonlyMap<string, Row>;
  readonly onMark: (rows: readonly Row[], marked: boolean) => void;
  readonly markable: boolean;
  /** The folder is shown as it was at a moment: each version is that of another key. */
  readonly past: boolean;
  /** Undefined where the folder is too long to be sorted. */
  readonly sort: Sort | undefined;
  readonly onSort: (sort: Sort) => void;
  readonly actions: (row: Row) => ReactNode;
}

/** The table of a folder. It renders the visible rows only. */
export function ObjectTable(props: ObjectTableProps) {
  const { bucket, prefix, rows, selected, marked, onMark, markable, past, sort, onSort, actions } = props;
  const list = useRef<HTMLDivElement>(null);
  const { first, end } = useVisibleRows(list, rows.count);
  const { onVisible } = rows;
  useEffect(() => onVisible(first, Math.max(first, end - 1)), [onVisible, first, end]);
  const indexes = Array.from({ length: end - first }, (_, at) => first + at);
  const known = indexes.flatMap((index) => rows.at(index) ?? []);
  const every = known.length > 0 && known.every((row) => marked.has(idOf(row)));
  const head = { sort, onSort };
  return (
    <div className="rows" role="table" aria-label={t.labels.objects} aria-rowcount={rows.count + 1}>
      <div role="rowgroup" className="grid-head">
        <div role="row" className="grid-row" data-markable={markable || undefined} aria-rowindex={1}>
          {markable && (
            <span role="columnheader">
              <Checkbox
                size="xs"
                aria-label={t.objects.markAllRows}
                checked={every}
                indeterminate={marked.size > 0 && !every}
                onChange={() => onMark(rows.inMemory(), !every)}
              />
            </span>
          )}
          <SortHead name={t.labels.name} by="name" {...head} />
          <SortHead name={t.labels.size} by="size" right {...head} />
          <SortHead name={t.objects.modified} by="modified" wideOnly {...head} />
          <span role="columnheader">
            <VisuallyHidden>{t.labels.actions}</VisuallyHidden>
          </span>
        </div>
      </div>
      <div role="rowgroup" ref={list} style={{ height: rows.count * rowHeight, position: 'relative' }}>
        {indexes.map((index) => {
          const row = rows.at(index);
          return (
            <div
              key={index}
              role="row"
              className="grid-row"
              data-markable={markable || undefined}
              data-open={(row?.kind !== 'folder' && row?.key === selected) || undefined}
              data-past={(!past && row?.kind === 'version' && !row.version.isLatest) || undefined}
              aria-rowindex={index + 2}
              style={{ transform: `translateY(${index * rowHeight}px)`, height: rowHeight }}
            >
              {row === undefined ? (
                <span role="cell" className="grid-loading" />
              ) : (
                <Cells {...{ bucket, prefix, row, markable, actions, onMark }} marked={marked.has(idOf(row))} />
              )}
            </div>
          );
        })}
      </div>
    </div>
  );
}

interface SortHeadProps extends Pick<ObjectTableProps, 'sort' | 'onSort'> {
  readonly name: string;
  readonly by: Sort['by'];
  readonly right?: boolean;
  readonly wideOnly?: boolean;
}

function SortHead({ name, by, right = false, wideOnly = false, sort, onSort }: SortHeadProps) {
  const active = sort?.by === by;
  const Arrow = sort?.descending === true ? IconArrowDown : IconArrowUp;
  const className = `${right ? 'grid-right' : ''} ${wideOnly ? 'wide-only' : ''}`;
  if (sort === undefined) {
    return (
      <span role="columnheader" className={className}>
        {name}
      </span>
    );
  }
  return (
    <span
      role="columnheader"
      className={className}
      aria-sort={active ? (sort.descending ? 'descending' : 'ascending') : 'none'}
    >
      <UnstyledButton className="sort-head" onClick={() => onSort({ by, descending: active && !sort.descending })}>
        {name}
        {active && <Arrow size={12} aria-hidden />}
      </UnstyledButton>
    </span>
  );
}

interface CellsProps extends Pick<ObjectTableProps, 'bucket' | 'prefix' | 'markable' | 'onMark' | 'actions'> {
  readonly row: Row;
  readonly marked: boolean;
}

/** While the user scrolls, only the rows that come into view are rendered: a row takes milliseconds. */
const Cells = memo(function Cells({ bucket, prefix, row, markable, marked, onMark, actions }: CellsProps) {
  // The controls take most of the time. React renders them after the names, in short tasks, so that a jump to other rows is smooth.
  const complete = useDeferredValue(true, false);
  return (
    <>
      {markable && (
        <span role="cell">
          {complete && (
            <RowCheckbox
              label={say(t.objects.mark, { name: nameIn(prefix, row.key) })}
              checked={marked}
              onChange={(checked) => onMark([row], checked)}
            />
          )}
        </span>
      )}
      <span role="cell" className="grid-name">
        <NameCell bucket={bucket} prefix={prefix} row={row} />
      </span>
      <span role="cell" className="grid-right">
        {row.kind !== 'folder' && !(row.kind === 'version' && row.version.kind === 'marker') && (
          <span className="row-text" title={say(t.objects.bytes, { size: sizeOf(row) })}>
            {formatBytes(sizeOf(row))}
          </span>
        )}
      </span>
      <span role="cell" className="wide-only">
        {row.kind !== 'folder' && <RowTime at={modifiedOf(row)} ofVersion={row.kind === 'version'} />}
      </span>
      <span role="cell" className="row-actions grid-actions">
        {complete && actions(row)}
      </span>
    </>
  );
});

function NameCell({ bucket, prefix, row }: Pick<CellsProps, 'bucket' | 'prefix' | 'row'>) {
  const name = <FittedName name={nameIn(prefix, row.key)} />;
  const [search] = useSearchParams();
  const toObject = { pathname: `/buckets/${encodeURIComponent(bucket)}`, search: withObject(search, row.key) };
  if (row.kind === 'folder') {
    return (
      <Link className="row-name" to={folderUrl(bucket, row.key, search.get('at'))}>
        <IconFolder size={18} stroke={1.5} className="row-icon" data-kind="folder" aria-hidden />
        <span>{name}</span>
      </Link>
    );
  }
  if (row.kind === 'version') {
    const marker = row.version.kind === 'marker';
    const Icon = marker ? IconEraser : row.version.isLatest ? IconFile : IconHistory;
    return (
      <Link className="row-name" to={toObject}>
        <Icon size={18} stroke={1.4} className="row-icon" aria-hidden />
        <span className={row.version.isLatest ? undefined : 'wide-only'}>{name}</span>
        {/* A narrow row has no column of times. The name is that of the rows above. */}
        {!row.version.isLatest && <span className="narrow-only">{formatSecond(row.version.lastModified)}</span>}
        {marker && (
          <Badge size="sm" color="gray">
            {t.objects.deleteMarker}
          </Badge>
        )}
        {row.version.isLatest && (
          // A delete marker leaves a narrow row no room for both.
          <Badge size="sm" className={marker ? 'wide-only' : undefined}>
            {t.objects.current}
          </Badge>
        )}
      </Link>
    );
  }
  return (
    <Link className="row-name" to={toObject}>
      <IconFile size={18} stroke={1.4} className="row-icon" aria-hidden />
      <span>{name}</span>
      {row.object.encrypted && (
        <span className="row-lock" title={t.objects.encryptedAtRest}>
          <IconLock size={13} className="row-icon" aria-label={t.objects.encryptedAtRest} role="img" />
        </span>
      )}
    </Link>
  );
}

/** Opens the details of an object and leaves all else of the page as it is. */
function withObject(search: URLSearchParams, key: string): string {
  const next = new URLSearchParams(search);
  next.set('object', key);
  return next.toString();
}
