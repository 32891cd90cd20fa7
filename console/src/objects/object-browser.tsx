import { Button, Group, Stack, Switch, Text, TextInput } from '@mantine/core';
import { useDebouncedValue, useHotkeys } from '@mantine/hooks';
import { IconFolderOpen, IconHistory, IconSearch } from '@tabler/icons-react';
import { useCallback, useMemo, useRef, useState, type SubmitEvent } from 'react';
import { useNavigate, useSearchParams } from 'react-router';
import { ResponseError } from '../../../protocol/response-error.ts';
import type { FolderRights } from '../api/rights.ts';
import { Empty, Failure } from '../components/feedback.tsx';
import { LoadingRows } from '../components/list-page.tsx';
import { objectUrl } from '../components/urls.ts';
import { MarkedActions, useRowActions } from './folder-actions.tsx';
import { useListing } from './rows/listing.ts';
import { ObjectTable, type TableRows } from './object-table.tsx';
import type { PageStore } from './rows/page-store.ts';
import { RowActions } from './row-menu.tsx';
import { filterRows, idOf, maxArranged, sortRows, type Row, type Sort } from './rows/rows.ts';
import { momentOf } from './rewind/current-at.ts';
import { RewindBar } from './rewind/rewind-bar.tsx';
import { DropArea } from './drop-area.tsx';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';
import { useDraft } from '../components/use-draft.ts';

interface ObjectBrowserProps {
  readonly bucket: string;
  readonly prefix: string;
  /** The key of the object whose details are open. */
  readonly selected: string | null;
  readonly rights: FolderRights;
}

/** The rows of a folder, which are loaded page by page as the user scrolls. It uploads files that are dropped on the page. */
export function ObjectBrowser({ bucket, prefix, selected, rights }: ObjectBrowserProps) {
  const view = useFolderView(bucket, prefix);
  const { listing, arranged, rows, contains, versions, at } = view;
  const past = at !== undefined;
  const [marked, setMarked] = useState<ReadonlyMap<string, Row>>(new Map());
  const { perform, dialogs } = useRowActions({ bucket, prefix, at, onDone: () => setMarked(new Map()) });

  const mark = useCallback((chosen: readonly Row[], on: boolean): void => {
    setMarked((before) => {
      const next = new Map(before);
      for (const row of chosen) {
        if (on) next.set(idOf(row), row);
        else next.delete(idOf(row));
      }
      return next;
    });
  }, []);
  const actions = useCallback(
    (row: Row) => (
      <RowActions {...{ bucket, prefix, row, rights, past }} onAction={(action) => perform(action, [row])} />
    ),
    [bucket, prefix, rights, past, perform],
  );

  if (listing.error !== undefined && listing.count === 0) {
    return <NotListed bucket={bucket} prefix={prefix} error={listing.error} retry={() => listing.retry()} />;
  }
  const loading = listing.count === 0 && !listing.complete;
  const markable = past
    ? rights.some('s3:GetObjectVersion') && rights.some('s3:PutObject')
    : !versions && (rights.some('s3:DeleteObject') || rights.some('s3:GetObject'));
  return (
    <Stack gap="sm">
      <FolderTools {...{ prefix, view, rights }} onChange={() => setMarked(new Map())} />
      {marked.size > 0 && (
        <MarkedActions
          {...{ bucket, prefix, rights, past }}
          rows={[...marked.values()]}
          onAction={perform}
          onClear={() => setMarked(new Map())}
        />
      )}
      {loading && <LoadingRows />}
      {!loading && rows.count === 0 && <NothingHere filtered={contains !== ''} {...{ versions, past, rights }} />}
      {rows.count > 0 && (
        <ObjectTable
          {...{ bucket, prefix, selected, rows, marked, markable, past }}
          onMark={mark}
          sort={arranged ? view.sort : undefined}
          onSort={view.setSort}
          actions={actions}
        />
      )}
      {listing.error !== undefined && (
        <Failure what={t.objects.theNextRowsCannotBeShown} error={listing.error} retry={() => listing.retry()} />
      )}
      {!past && rights.here('s3:PutObject') && <DropArea bucket={bucket} prefix={prefix} />}
      {dialogs}
    </Stack>
  );
}

type FolderView = ReturnType<typeof useFolderView>;

/** The view of a folder: the search, the order, versions, and the key to begin with. */
function useFolderView(bucket: string, prefix: string) {
  const [search] = useSearchParams();
  const versions = search.get('versions') === '1';
  const from = search.get('from') ?? '';
  const at = momentOf(search.get('at'));
  const moment = at?.getTime();
  const [text, setText] = useDraft('filter', '');
  const [contains] = useDebouncedValue(text, 150);
  const [sort, setSort] = useState<Sort>({ by: 'name', descending: false });
  const whole = useListing({ bucket, prefix, folder: prefix, versions, moment, from });
  const arranged = whole.complete && whole.count <= maxArranged && from === '';
  // In a longer folder the server searches by the beginning of the name.
  const searching = !arranged && contains !== '';
  const searched = searching ? `${prefix}${contains}` : prefix;
  const found = useListing({ bucket, prefix: searched, folder: prefix, versions, moment, from: searching ? '' : from });
  const listing = searching ? found : whole;
  const rows = useTableRows(listing, arranged, { prefix, contains, sort });
  return { versions, at, from, text, setText, contains, sort, setSort, arranged, listing, rows };
}

interface FolderToolsProps {
  readonly prefix: string;
  readonly view: FolderView;
  readonly rights: FolderRights;
  /** Called when other rows will be shown. */
  readonly onChange: () => void;
}

/** Search, versions and jump, above the rows. */
function FolderTools({ prefix, view, rights, onChange }: FolderToolsProps) {
  const { arranged, versions, at, from, listing, rows } = view;
  const [search, setSearch] = useSearchParams();
  const field = useRef<HTMLInputElement>(null);
  useHotkeys([['/', () => field.current?.focus()]]);

  function change(name: string, value: string | undefined): void {
    const next = new URLSearchParams(search);
    if (value === undefined) next.delete(name);
    else next.set(name, value);
    onChange();
    setSearch(next);
  }

  return (
    <Group gap="sm">
      <TextInput
        ref={field}
        flex={1}
        miw={{ base: '100%', xs: 200 }}
        maw={{ base: '100%', xs: 360 }}
        aria-label={arranged ? t.objects.filterThisFolder : t.objects.searchNamesThatBeginWith}
        data-filter
        placeholder={arranged ? t.labels.filter : t.objects.namesThatBeginWith}
        leftSection={<IconSearch size={15} />}
        value={view.text}
        onChange={(event) => view.setText(event.currentTarget.value)}
      />
      {rights.bucket('s3:ListBucketVersions') && at === undefined && (
        <Switch
          size="xs"
          label={t.objects.versions}
          checked={versions}
          onChange={(event) => change('versions', event.currentTarget.checked ? '1' : undefined)}
        />
      )}
      {rights.bucket('s3:ListBucketVersions') && (
        <RewindBar at={at} onChange={(moment) => change('at', moment?.toISOString())} />
      )}
      {!arranged && listing.count > 0 && <JumpTo prefix={prefix} from={from} onJump={(key) => change('from', key)} />}
      <Text size="sm" c="dimmed" role="status" ml="auto">
        {listing.complete && say(t.objects.entries, { count: rows.count })}
        {!listing.complete && rows.count > 0 && say(t.objects.entriesCount, { count: rows.count })}
      </Text>
    </Group>
  );
}

interface Arrangement {
  readonly prefix: string;
  readonly contains: string;
  readonly sort: Sort;
}

function useTableRows(listing: PageStore<Row>, arranged: boolean, { prefix, contains, sort }: Arrangement): TableRows {
  const version = listing.version();
  const all = useMemo(
    () => (arranged ? sortRows(listing.rows(), sort) : undefined),
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the store has new rows with each version
    [listing, version, arranged, sort],
  );
  // The text changes while it is typed, and does not sort the rows again.
  const sorted = useMemo(
    () => (all === undefined ? undefined : filterRows(all, prefix, contains)),
    [all, prefix, contains],
  );
  const onVisible = useCallback(
    (first: number, last: number) => {
      // A short folder is loaded to its end, because then it can be sorted.
      const wanted = sorted === undefined && listing.count < maxArranged ? listing.count : last;
      listing.ensure(first, wanted);
    },
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- each version may need the next page
    [listing, version, sorted],
  );
  if (sorted !== undefined) {
    return { count: sorted.length, at: (index) => sorted[index], inMemory: () => sorted, onVisible };
  }
  return { count: listing.count, at: (index) => listing.row(index), inMemory: () => listing.rows(), onVisible };
}

interface JumpToProps {
  readonly prefix: string;
  readonly from: string;
  readonly onJump: (key: string | undefined) => void;
}

/** Starts a long folder at a name. */
function JumpTo({ prefix, from, onJump }: JumpToProps) {
  const [name, setName] = useDraft('jump', '');

  function submit(event: SubmitEvent<HTMLFormElement>): void {
    event.preventDefault();
    onJump(name === '' ? undefined : `${prefix}${name}`);
  }

  return (
    <form onSubmit={submit}>
      <Group gap={6} wrap="nowrap">
        <TextInput
          w={170}
          aria-label={t.objects.jumpToAName}
          placeholder={t.objects.jumpTo}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        {from !== '' && (
          <Button size="compact-sm" variant="default" onClick={() => onJump(undefined)}>
            {t.objects.fromTheBeginning}
          </Button>
        )}
      </Group>
    </form>
  );
}

interface NothingHereProps {
  readonly filtered: boolean;
  readonly versions: boolean;
  readonly past: boolean;
  readonly rights: FolderRights;
}

function NothingHere({ filtered, versions, past, rights }: NothingHereProps) {
  if (filtered) {
    return (
      <Text size="sm" c="dimmed" role="status">
        {t.objects.noNameFits}
      </Text>
    );
  }
  if (past) {
    return (
      <Empty icon={IconHistory} title={t.objects.nothingWasInHereThen}>
        {t.objects.chooseAnotherMomentWhatWasReplacedIn}
      </Empty>
    );
  }
  const writes = rights.here('s3:PutObject');
  return (
    <Empty icon={IconFolderOpen} title={versions ? t.objects.noVersionsInHere : t.objects.nothingInHere}>
      {writes ? t.objects.dropFilesOrFoldersAnywhereOnThis : t.objects.toAddObjectsHereYouNeedThe}
    </Empty>
  );
}

interface NotListedProps {
  readonly bucket: string;
  readonly prefix: string;
  readonly error: Error;
  readonly retry: () => void;
}

function NotListed({ bucket, prefix, error, retry }: NotListedProps) {
  return (
    // The column is as wide as a list of objects, so that the details are at the right edge here too.
    <div>
      <Stack gap="md" maw={640}>
        <Failure what={t.objects.thisFolderCannotBeListed} error={error} retry={retry} />
        {error instanceof ResponseError && error.status === 403 && <OpenByKey bucket={bucket} prefix={prefix} />}
      </Stack>
    </div>
  );
}

/** Opens an object for a user who may read objects and not list them, as with the policy `readonly`. */
function OpenByKey({ bucket, prefix }: Pick<NotListedProps, 'bucket' | 'prefix'>) {
  const navigate = useNavigate();
  const [key, setKey] = useDraft('open', prefix);

  function submit(event: SubmitEvent<HTMLFormElement>): void {
    event.preventDefault();
    void navigate(objectUrl(bucket, prefix, key));
  }

  return (
    <form onSubmit={submit}>
      <Group align="flex-end" gap="xs">
        <TextInput
          flex={1}
          label={t.objects.openAnObjectByItsKey}
          description={t.objects.youMayBeAllowedToReadObjects}
          required
          withAsterisk={false}
          spellCheck={false}
          autoComplete="off"
          value={key}
          onChange={(event) => setKey(event.currentTarget.value)}
        />
        <Button type="submit" variant="default">
          {t.objects.open}
        </Button>
      </Group>
    </form>
  );
}
