import { Badge, Button, Group, Select, Stack, Switch, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconFileOff } from '@tabler/icons-react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { AuditAnswer, AuditRow } from '../../../protocol/console/operations-answers.ts';
import { call } from '../api/call.ts';
import { DetailPage } from '../components/detail-page.tsx';
import { Empty, Failure } from '../components/feedback.tsx';
import { LoadingRows } from '../components/list-page.tsx';
import { LineTime, RowTable } from '../components/row-table.tsx';
import { formatMillisecond, formatSecond } from '../text/format.ts';
import { DocumentDialog } from './document-dialog.tsx';
import { StatusCode } from './requests-page.tsx';
import { say } from '../texts/say.ts';
import { NameText } from '../components/name-text.tsx';
import { t } from '../texts/texts.ts';
import { useDraft } from '../components/use-draft.ts';

/** The reads that open pages repeat by themselves are many, and of no person. The page says how many it leaves out. */
const none = { who: '', bucket: '', operation: '', decision: '', outcome: '', refreshes: 'left-out' };

type Search = typeof none;

/** Searches the audit log by person, bucket, operation and decision. */
export function AuditPage() {
  const [search, setSearch] = useDraft('search', none);
  const [open, setOpen] = useState<AuditRow>();
  const found = useAudit(search);
  const pages = found.data?.pages ?? [];
  const rows = pages.flatMap((page) => (page.kind === 'found' ? page.entries : []));
  const leftOut = pages.reduce((sum, page) => sum + (page.kind === 'found' ? page.leftOut : 0), 0);
  const last = pages.at(-1);
  const since = last?.kind === 'found' ? last.since : undefined;
  return (
    <DetailPage title={t.operations.auditLog}>
      {last?.kind === 'no-file' ? (
        <Empty icon={IconFileOff} title={t.operations.noAuditFile}>
          {t.operations.setSvcAuditFileToThePath}
        </Empty>
      ) : (
        <>
          <SearchFields search={search} onChange={setSearch} />
          {found.isPending && <LoadingRows />}
          {found.isError && (
            <Failure what={t.operations.theAuditLogCannotBeSearched} error={found.error} retry={found.refetch} />
          )}
          {rows.length > 0 && <Rows rows={rows} open={setOpen} />}
          {found.isSuccess && (
            <Group gap="md">
              <Text size="sm" c="dimmed" role="status">
                {rows.length === 0 ? t.operations.nothingWasFound : say(t.operations.found, { rows: rows.length })}{' '}
                {since !== undefined && say(t.operations.theSearchWentBackTo, { since: formatSecond(since) })}{' '}
                {leftOut > 0 && say(t.operations.refreshesAreNotShown, { leftOut })}
              </Text>
              {found.hasNextPage && (
                <Button
                  variant="default"
                  size="compact-sm"
                  loading={found.isFetchingNextPage}
                  onClick={() => void found.fetchNextPage()}
                >
                  {t.operations.searchFurtherBack}
                </Button>
              )}
            </Group>
          )}
        </>
      )}
      {open !== undefined && (
        <DocumentDialog title={open.operation} document={open.entry} onClose={() => setOpen(undefined)} />
      )}
    </DetailPage>
  );
}

function useAudit(search: Search) {
  const [asked] = useDebouncedValue(search, 300);
  return useInfiniteQuery({
    queryKey: ['audit', asked],
    queryFn: ({ pageParam, signal }) =>
      call<AuditAnswer>('GET', '/audit', { query: { ...asked, before: pageParam?.toString() }, signal }),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: (page) => (page.kind === 'found' ? page.next : undefined),
  });
}

function SearchFields({ search, onChange }: { readonly search: Search; readonly onChange: (search: Search) => void }) {
  const field = (name: 'who' | 'bucket' | 'operation', label: string, placeholder: string) => (
    <TextInput
      label={label}
      placeholder={placeholder}
      value={search[name]}
      onChange={(event) => onChange({ ...search, [name]: event.currentTarget.value })}
      w={{ base: '100%', xs: 200 }}
    />
  );
  const choice = (name: 'decision' | 'outcome', label: string, data: { value: string; label: string }[]) => (
    <Select
      label={label}
      placeholder={t.operations.any}
      data={data}
      value={search[name] === '' ? null : search[name]}
      onChange={(value) => onChange({ ...search, [name]: value ?? '' })}
      clearable
      w={{ base: 'calc(50% - 6px)', xs: 150 }}
    />
  );
  return (
    <Group gap="sm" align="flex-end">
      {field('who', t.labels.person, t.operations.nameAccessKeyAddress)}
      {field('bucket', t.labels.bucket, t.operations.theWholeName)}
      {field('operation', t.operations.operation, 'PutObject, admin:…')}
      {choice('decision', t.operations.decision, [
        { value: 'allow', label: t.operations.allowed },
        { value: 'deny', label: t.operations.denied },
      ])}
      {choice('outcome', t.operations.result, [
        { value: 'succeeded', label: t.operations.succeeded },
        { value: 'failed', label: t.operations.failed },
      ])}
      <Switch
        label={t.operations.refreshesToo}
        checked={search.refreshes === ''}
        onChange={(event) => onChange({ ...search, refreshes: event.currentTarget.checked ? '' : 'left-out' })}
        mb={8}
      />
    </Group>
  );
}

function Rows({ rows, open }: { readonly rows: readonly AuditRow[]; readonly open: (row: AuditRow) => void }) {
  return (
    <RowTable
      rows={rows}
      rowKey={({ id, time }) => `${id} ${time}`}
      columns={[
        { head: t.operations.time, width: 208, wideOnly: true, cell: ({ time }) => <LineTime at={time} /> },
        {
          head: t.operations.call,
          cell: (row) => (
            <button type="button" className="row-name" onClick={() => open(row)}>
              <Stack gap={0} miw={0}>
                <Text size="sm" fw={550} style={{ overflowWrap: 'anywhere' }}>
                  {row.operation}
                </Text>
                {row.bucket !== undefined && row.bucket !== '' && (
                  <Text size="xs" c="dimmed" className="mono">
                    <NameText
                      name={row.object === undefined || row.object === '' ? row.bucket : `${row.bucket}/${row.object}`}
                      max={120}
                    />
                  </Text>
                )}
                <Text size="xs" c="dimmed" className="narrow-only">
                  {row.who} · {formatMillisecond(row.time)}
                </Text>
              </Stack>
            </button>
          ),
        },
        { head: t.labels.who, width: 160, wideOnly: true, cell: (row) => <Who row={row} /> },
        {
          head: t.operations.decision,
          width: 96,
          wideOnly: true,
          cell: ({ decisions }) => <Decision effects={decisions.map(({ effect }) => effect)} />,
        },
        { head: t.labels.status, width: 74, cell: ({ status }) => <StatusCode status={status} /> },
      ]}
    />
  );
}

function Who({ row: { who, address } }: { readonly row: AuditRow }) {
  return (
    // A long operation leaves room for a short name.
    <Stack gap={0} miw={84}>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {who}
      </Text>
      <Text size="xs" c="dimmed" className="mono">
        {address}
      </Text>
    </Stack>
  );
}

function Decision({ effects }: { readonly effects: readonly ('allow' | 'deny')[] }) {
  if (effects.length === 0) return null;
  return effects.includes('deny') ? (
    <Badge color="red">{t.operations.denied}</Badge>
  ) : (
    <Badge>{t.operations.allowed}</Badge>
  );
}
